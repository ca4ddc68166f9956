#pragma once

#include "runtime/planner/memory/allocated_graph.h"

#include <span>
#include <vector>

/// Private to the memory planner.
namespace schedscope {

/// The backends of the last two graphs by position. The arrays alternate and keep what longer graphs left in them, as ggml's do.
class BackendHistory {
public:
    /// The present graph's backends replace those of the graph before the last. True: at some position the memory is another one
    /// now.
    bool changed(const AllocatedGraph& present, std::span<const BufferTypeId> type_of_backend);

private:
    struct PositionBackends {
        std::vector<BackendId> two[2];
        bool exchange(std::span<const AllocatedEntry> present, size_t newer, std::span<const BufferTypeId> type_of_backend);
    };
    PositionBackends nodes_, leafs_;
    size_t newer_ = 0;
};

} // namespace schedscope
