#pragma once

#include "traces/history/history.h"
#include "viz/query/describer.h"

namespace schedscope::tui {

using query::Describer;
using query::Facts;

/// Where one evaluation is looked at as another one is: what is to be seen there belongs together.
struct SamePlace {
    Step step = no_step;
    bool same = false; ///< what the other one shows has its like here; false: the first thing after it that this one has
};

/// The step of evaluation `to` that is like step `from` of another one: in the same pass the same kind of record about the tensor
/// of the same name. Where there is none, the end of that pass; of a pass that it doesn't have (its plan was used again), the
/// next thing that it does have. An end is like an end. Never a step at which nothing is planned yet, as long as the evaluation
/// plans something.
SamePlace same_place(History& history, Describer& describer, Step from, EvaluationId to);
/// The first step of an evaluation at which there is a plan to look at, be it empty; its last step if it has none.
Step beginning_of(const History& history, EvaluationId evaluation);

} // namespace schedscope::tui
