#pragma once

#include "runtime/scheduler/plan.h"
#include "runtime/scheduler/records.h"

#include <vector>

namespace schedscope {

/// The order in which the backends of a session would run a planned graph's nodes, each split as optimise_like says for its backend's kind. Needs no device
/// and no live graph: tensors without data are made for the time being.
std::vector<TensorId> optimised_order(const GraphView& graph, const Plan& plan, const SessionInfo& session);

} // namespace schedscope
