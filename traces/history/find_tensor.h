#pragma once

#include "traces/history/history.h"

#include <string_view>
#include <vector>

namespace schedscope {

/// A tensor as people name it: "ffn_norm-3", or "norm-0@412" where a name stands for several; "#61" is the node of that number in
/// the order in which nodes run, as the lists count them. Copies are named BACKEND#tensor#stage. Every tensor of the state's
/// graph (and its copies) that fits, in order of id; empty: none does.
std::vector<TensorId> find_tensors(const History& history, const PlanState& state, std::string_view name);

/// The only tensor of that name. Throws Error(usage): unknown (with the nearest names), or ambiguous (with NAME@ID of each).
TensorId find_tensor(const History& history, const PlanState& state, std::string_view name);

/// Whose memory a tensor looks into: a cache, a weight; itself where it is no view.
TensorId owner_of(const OwnedGraph& graph, TensorId tensor);

} // namespace schedscope
