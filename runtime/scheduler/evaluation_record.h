#pragma once

#include "runtime/planner/plan.h"
#include "runtime/planner/recorder.h"
#include "runtime/scheduler/scheduler.h"

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace schedscope {

/// Of graphs without attention: --set fa= would change nothing in them.
inline constexpr PlanAlternative same_with_any_attention[] = {{-1, "fa=on"}, {-1, "fa=off"}};

/// Tells the scheduler's recorder, if it has one, of the session; of its devices what the scheduler knows by now: it may have met
/// more buffer types.
void record_session(const Scheduler& scheduler, SessionInfo session);

/// The records around one evaluation, whoever runs it with the scheduler; without a recorder nothing happens. `begin`: all but
/// `observed` and `failed_check` filled in; failed_check: why the last graph was not reused, empty when it was or was the first.
void record_evaluation_begin(const Scheduler& scheduler, EvaluationId id, record::EvaluationBegin begin,
                             std::string_view failed_check);
/// error: a sentence; null: it went well.
void record_evaluation_end(const Scheduler& scheduler, const char* error);

} // namespace schedscope
