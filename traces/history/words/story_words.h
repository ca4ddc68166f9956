#pragma once

#include "traces/history/explain.h"

#include <string>
#include <vector>

/// A story as sentences: what the command line prints and the report shows are the same words. A tensor is called as find_tensor
/// takes it.
namespace schedscope::words {

/// "Qcur-0  MUL_MAT  f32 [64, 16]  (evaluation 3, planned in 1)"
std::string story_head(const History& history, const PlanState& state, const Story& story);
/// One a source: "source 0  blk.0.attn_q.weight  on Vulkan0, in Vulkan0 memory, a weight".
std::vector<std::string> story_sources(const History& history, const PlanState& state, const Story& story);
/// What a pass did: "Vulkan0 by 1.wgt0 (blk.0.attn_q.weight): its weight lies there", "unchanged, on CPU".
std::string decided(const History& history, const PlanState& state, const StoryStep& step);
/// "Vulkan0 runs this operator? no: type: source 1 is not F32"
std::string answered(const History& history, const Asked& asked);

} // namespace schedscope::words
