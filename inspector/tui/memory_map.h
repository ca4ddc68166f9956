#pragma once

#include "inspector/tui/drawing.h"
#include "traces/tables.h"

#include <vector>

namespace schedscope::tui {

/// Compute buffers drawn as maps: from left to right the nodes of the allocated graph, from the bottom up the bytes of a buffer, each tensor a rectangle
/// where it lies for as long as it is needed. Tensors that work in place of each other have one shade. Long ranges in which nothing lies are folded. Below
/// it, how much is needed at once. The buffer of the selected tensor, or all of them where there is room.
class MemoryMap final : public Drawing {
public:
    struct Buffer {
        BufferTypeId buffer_type = no_buffer_type;
        int32_t chunk = 0;
        int64_t size = 0;
        std::vector<int> rows; ///< of the list, of what lies in it
    };
    /// `placements`: the list's rows, borrowed. `buffers` in the order in which they are drawn.
    void set(Session& session, const std::vector<record::Placement>& placements, std::vector<Buffer> buffers);

    int rows(Session& session, int body_rows, int width) const override;
    std::string title(const Session& session) const override;
    std::vector<Line> draw(Session& session, int selected, int height, int width) override;
    int row_at(int line, int column) const override;

private:
    void draw_buffer(Session& session, const Buffer& buffer, int selected, Cells& cells, int first_row, int height);
    int shade_of(int row) const;

    const std::vector<record::Placement>* placements_ = nullptr;
    std::vector<Buffer> buffers_;
    int32_t end_ = 1;                     ///< nodes of the allocated graph
    std::vector<int> family_;             ///< by row: the row whose place it was first, before anything worked in place of it
    std::vector<std::vector<int>> drawn_; ///< [line][cell] row of the list; −1: none
};

/// Bytes of a buffer that are needed at each node of the allocated graph.
std::vector<int64_t> live_bytes(const std::vector<const record::Placement*>& placements, int32_t n_nodes);

} // namespace schedscope::tui
