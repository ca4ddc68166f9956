#pragma once

#include "traces/attach/run.h"

/// Where a program is held that is stepped: in its own thread, which holds no lock, and for no longer than the recorder wants it.
namespace schedscope::attach {

/// Before a plan. What ran before it is complete.
void stop_before_plan(Scheduler& scheduler);
/// Before a split: when the first thing is done for it, which may be a copy of what it reads.
void stop_before_split(RunCall& call);
/// Where a run stands: all that was recorded of it is sent.
void stop_in_run(RunCall& call);

} // namespace schedscope::attach
