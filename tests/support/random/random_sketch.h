#pragma once

#include "runtime/planner/graph_view.h"
#include "runtime/planner/records.h"
#include "tests/support/random/random_graph.h"

namespace schedscope::test {

/// A random graph as the planner sees it, without data: weights and caches lie where any of a session's backends has its memory,
/// some nodes are pinned to any of them.
OwnedGraph random_sketch(const RandomShape& shape, const SessionInfo& session);

} // namespace schedscope::test
