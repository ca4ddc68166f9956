#pragma once

#include "traces/replay/replay.h"

#include <string>
#include <vector>

namespace schedscope {

/// Plans that are told together: the same before, the same after, the same tensors changed.
using AlikePlans = std::vector<const PlanComparison*>;
/// In order of the first of each.
std::vector<AlikePlans> alike_plans(const ReplayResult& result);
/// "evaluations 0, 2, 3: decode, 1 token"
std::string title_of(const AlikePlans& plans);

/// Neighbours to which the same happens, together with their like in other layers.
struct FoldedChange {
    std::string name;            ///< "attn_norm-0 … l_out-0, and 3 more alike"
    std::string passes;          ///< that decide otherwise: "1 2a"
    std::string recorded, now;   ///< "CPU by 1.wgt0", "stays, by 4.cpy"; the rule only where all have the same; empty: not there
    std::vector<size_t> members; ///< index in the plan's changes, in order
};
/// Of the changes of a plan, in order of the first of each.
std::vector<FoldedChange> folded_changes(const PlanComparison& plan);

} // namespace schedscope
