#pragma once

#include "traces/attach/ggml_copy.h"

/// A library that joined a process finds schedulers there that it did not see being made. What it needs to know of them, their
/// getters say, or the memory of a graph that they placed.
namespace schedscope::attach {

/// What a call of the program is about to do with a graph.
enum class Sight : uint8_t { plans, planned, computes };

/// At every call of a scheduler, by the code at `caller`. Where nothing is recorded any more, calls are led back.
void meet(Sched* object, Graph* graph, Sight sight, const void* caller);

/// What was met before is met as if for the first time.
void forget_refused();

} // namespace schedscope::attach
