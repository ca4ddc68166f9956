#pragma once

#include "runtime/scheduler/plan.h"

#include <span>
#include <vector>

namespace schedscope {

/// An entry of the graph that memory is planned for.
struct AllocatedEntry {
    TensorId tensor = no_tensor; ///< of the graph, or a copy
    BackendId backend = no_backend;
    bool dependency = false; ///< not the tensor itself, but a view that keeps this split input alive until it is copied

    bool operator==(const AllocatedEntry&) const = default;
};

/// The graph that memory is planned for: per split, for each of its inputs a dependency and the present stage's copy, then the split's
/// nodes. Leafs: copies of all stages (when there are several), then the graph's.
struct AllocatedGraph {
    std::vector<AllocatedEntry> leafs, nodes;
};

/// `order`: the graph's nodes after the backends' optimise steps. `out`'s memory is used again.
void copy_graph(const GraphView& graph, const Plan& plan, std::span<const TensorId> order, AllocatedGraph& out);

} // namespace schedscope
