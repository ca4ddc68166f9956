#pragma once

#include "runtime/planner/graph_view.h"

#include <vector>

namespace schedscope {

/// Which tensor of one graph is which of another: the same operator and name, or, for those without a name of their own (node_12, leaf_3), the same
/// operator, type, extents and sources. Several alike are matched in order of their ids. [n_tensors of `of`] ids in `in`, no_tensor where it has none.
std::vector<TensorId> match_tensors(const OwnedGraph& of, const OwnedGraph& in);

} // namespace schedscope
