#pragma once

#include "runtime/planner/plan.h"

#include <string>

/// Why things are where they are, in the few words that fit into a picture.
namespace schedscope {

class Subject;
struct SplitState;

/// "V Vulkan0 by 2.sup (norm-3)", "unassigned"; where the pass that is shown moved it: "C CPU by 3.upg, was V Vulkan0".
std::string cause_text(const Subject& subject, TensorId tensor);

/// "backend changes at Qcur-3 (MUL_MAT)": why a split starts where it does.
std::string why_split_starts(const Subject& subject, const SplitState& split);

} // namespace schedscope
