#pragma once

#include "runtime/planner/graph_view.h"

#include <span>
#include <vector>

namespace schedscope {

/// How backends permuted the nodes of the last graph.
class Permutation {
public:
    /// Is `order`, a permutation of the graph's nodes, another one than last time's? A longer or shorter one is.
    bool changed(const GraphView& graph, std::span<const TensorId> order);

private:
    std::vector<int32_t> moved_;    ///< [n_nodes] the place that each had in the graph; empty: all have kept theirs
    std::vector<int32_t> now_;      ///< the same of the graph at hand
    std::vector<int32_t> position_; ///< [n_tensors] in the graph
};

} // namespace schedscope
