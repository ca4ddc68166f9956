#pragma once

#include "traces/attach/run.h"

/// What nodes hold as soon as they were computed, where the recorder wants to know it (--watch): ggml asks a callback about each
/// node, computes up to those that it wants, and shows them to it. The program's own callback is asked and shown as before.
namespace schedscope::attach {

bool watches(); ///< somebody wants to know anything

/// Does a pattern describe this node of the plan?
bool is_watched(Scheduler& scheduler, const Tensor* node);
/// Puts what it holds with what ran. Whatever computes it is complete.
void record_value(RunCall& call, const Tensor* node);

} // namespace schedscope::attach
