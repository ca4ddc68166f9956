#pragma once

#include "inspector/tui/views/drawings/drawing.h"
#include "traces/history/size_sum.h"
#include "viz/pictures/offset_axis.h"

#include <optional>
#include <vector>

namespace schedscope::tui {

/// Compute buffers drawn as maps: from left to right the nodes of the allocated graph, from the bottom up the bytes of a buffer,
/// each tensor a rectangle where it lies for as long as it is needed. Tensors that work in place of each other have one shade.
/// Long ranges in which nothing lies are folded. Below it, how much is needed at once. The buffer of the selected tensor, or all
/// of them where there is room.
class MemoryMap final : public Drawing {
public:
    struct DrawnBuffer {
        BufferTypeId buffer_type = no_buffer_type;
        int32_t chunk = 0;
        SizeSum size;
        std::vector<int> rows; ///< of the list, of what lies in it
    };
    /// `placements`: the list's rows, borrowed. `buffers` in the order in which they are drawn.
    void set(const std::vector<record::Placement>& placements, std::vector<DrawnBuffer> buffers);

    int rows(InspectorSession& session, int body_rows, int width) const override;
    std::string title(const InspectorSession& session) const override;
    std::vector<Line> draw(InspectorSession& session, int selected, int height, int width) override;
    int row_at(int line, int column) const override { return drawn_.at(line, column); }

private:
    /// What is drawn of a buffer that does not depend on what is selected: found once for a size.
    struct Map {
        int n_rows, n_columns;
        OffsetAxis axis;
        std::vector<int> cells;     ///< [n_rows][n_columns] row of the list that covers most of it; −1: none
        std::vector<int> fold_rows; ///< in which each fold of the axis is told
    };
    struct Shown {
        DrawnBuffer buffer;
        int64_t reached = 0;       ///< bytes
        std::vector<int64_t> live; ///< [nodes of the allocated graph] bytes that are needed there
        int peak_at = 0;
        TensorId peak_of = no_tensor; ///< whose bytes are taken there; none: several's are
        std::optional<Map> map;
    };
    struct Room {
        int first_row, height;
        std::string which; ///< of several, one of which has room: "1/2 "
    };
    void draw_buffer(InspectorSession& session, Shown& shown, int selected, Cells& cells, const Room& room);
    /// The cells of a map that a placement covers: rows [bottom, top) and columns [left, right).
    struct Area {
        double low, high; ///< in rows
        int bottom, top, left, right;
    };
    Area area_of(const record::Placement& placement, const Map& map) const;
    Map map_of(const Shown& shown, int n_rows, int n_columns) const;
    static void make_room_for_folds(Map& map);
    int shade_of(int row) const;

    const std::vector<record::Placement>* placements_ = nullptr;
    std::vector<Shown> buffers_;
    int32_t end_ = 1;         ///< nodes of the allocated graph
    std::vector<int> family_; ///< by row: the row whose place it was first, before anything worked in place of it
    DrawnRows drawn_;
};

} // namespace schedscope::tui
