#pragma once

#include "runtime/scheduler/live_plan.h"

namespace schedscope {

/// Makes the copies' tensors, points the nodes' sources to them, and lets each backend reorder and fuse its splits.
void optimise_splits(LivePlan& live, const LiveDevices& devices, Recorder* recorder);

/// Points sources back to the originals and takes the plan's memory away from its tensors, so that the graph could be planned
/// again.
void undo(LivePlan& live);

} // namespace schedscope
