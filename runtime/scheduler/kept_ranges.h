#pragma once

#include "runtime/backend/backend.h"
#include "runtime/planner/memory/allocated_graph.h"

#include <vector>

namespace schedscope {

/// Appends the groups of a split that begins at node `first_node` of the order, and the pairs that only a smaller batch would
/// make groups.
void note_kept(const SplitGraph& graph, int32_t first_node, std::vector<KeptRange>& kept);

} // namespace schedscope
