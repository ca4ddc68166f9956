#pragma once

#include "runtime/planner/memory/allocated_graph.h"
#include "runtime/planner/plan.h"
#include "runtime/planner/records.h"

namespace schedscope {

/// The order in which the backends of a session would run a planned graph's nodes, and their groups, each split as optimise_like
/// says for its backend's kind, or as planned where the backend keeps that order; nothing that the plan's flags call watched lies
/// inside a group. Needs no device and no live graph: tensors without data are made for the time being.
OptimisedNodes optimised_nodes(const GraphView& graph, const Plan& plan, const SessionInfo& session);

} // namespace schedscope
