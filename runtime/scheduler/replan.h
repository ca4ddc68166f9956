#pragma once

#include "runtime/scheduler/allocate.h"
#include "runtime/scheduler/memory_layout.h"

/// Private to the memory planner.
namespace schedscope {

/// The backends of the last two graphs by position. The arrays alternate and keep what longer graphs left in them, as the reference's do.
class BackendHistory {
public:
    /// The present graph's backends replace those of the graph before the last. True: at some position the memory is another one now.
    bool changed(const AllocatedGraph& present, std::span<const BufferTypeId> type_of_backend);

private:
    struct Positions {
        std::vector<BackendId> two[2];
        bool exchange(std::span<const AllocatedEntry> present, size_t newer, std::span<const BufferTypeId> type_of_backend);
    };
    Positions nodes_, leafs_;
    size_t newer_ = 0;
};

/// The first thing that doesn't fit the layout.
struct Misfit {
    enum class What : uint8_t { nothing, n_nodes, n_leafs, node, source };
    What what = What::nothing;
    TensorId node = no_tensor;
    int32_t slot = -1;
    TensorId source = no_tensor;
};

/// Whether each node and each source that needs memory has a place, large enough, at its position. Leafs are only counted.
Misfit find_misfit(const MemoryGraph& graph, const MemoryLayout& layout);

/// In the reference's words: "node kq-0 is not valid".
std::string misfit_text(const MemoryGraph& graph, const Misfit& misfit);

} // namespace schedscope
