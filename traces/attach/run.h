#pragma once

#include "traces/attach/scheduler.h"

/// What is recorded while a plan runs: splits, copies, waits, with their times.
namespace schedscope::attach {

/// A call of the program that computes, or waits for what it computed.
struct RunCall {
    static constexpr int sort = 1;
    Scheduler* scheduler;
    int depth;                ///< of calls within it that we look at: what a backend calls itself is its own matter
    bool is_waiting;          ///< nothing is computed in it
    bool before_split = true; ///< what comes next is done for a split that nothing was done for
};

/// A timed call within a run.
struct Timed {
    int64_t start, end;
};

/// The block that what runs is recorded in; null: nothing is. A plan that runs again is an evaluation of its own.
Block* block_of(RunCall& call);
void begin_run(RunCall& call);
void record_split_run(RunCall& call, Backend* backend, const Graph* part, Timed time);
void record_copy(RunCall& call, const Tensor* copy, Timed time);
void record_part_of_copy(RunCall& call, const Tensor* copy, size_t bytes, Timed time);
void record_wait(RunCall& call, const Backend* backend, Timed time);
void record_hold(RunCall& call, Timed time); ///< by a user
/// What was recorded of it so far is sent; of a plan that runs again, at least that it does.
void send_run(RunCall& call);
/// The computation was handed over, and what was recorded of it is sent.
void end_run(RunCall& call, int status);
/// All of it is done.
void end_wait(RunCall& call);

} // namespace schedscope::attach
