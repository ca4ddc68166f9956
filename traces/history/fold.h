#pragma once

#include "traces/history/history.h"

namespace schedscope {

/// How records make a PlanState. A state depends on the records of its own evaluation and, where that runs an earlier plan, on
/// that plan; on nothing else. So any evaluation can be folded without those before it.

/// The kinds that change a state: those that `fold` has a list or a function for. Two of three records of a plan are questions,
/// which don't.
extern const FactSet folded_facts;

/// Before the first record of an evaluation.
void begin_state(PlanState& state, EvaluationId evaluation);

/// Applies the next record. An EvaluationBegin that names an earlier plan changes nothing here: see adopt_plan.
void fold(PlanState& state, const Record& record, const RecordSource& source);

/// Takes the last folded record back, where what it did can be told from it alone: it put something behind a list, or timed a
/// split. False, and nothing is changed: fold again up to the record before it.
bool unfold(PlanState& state, const Record& record) noexcept;

/// Does the record say that its evaluation runs a plan made earlier?
bool adopts_plan(const Record& record) noexcept;

/// `state` becomes that of an evaluation which runs the plan of `planned` (the state at the end of the evaluation that made it)
/// and has run nothing yet.
void adopt_plan(PlanState& state, const PlanState& planned, const Record& begin);

/// About how many bytes a copy of the state takes.
size_t state_bytes(const PlanState& state) noexcept;

} // namespace schedscope
