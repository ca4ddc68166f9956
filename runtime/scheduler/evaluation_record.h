#pragma once

#include "runtime/scheduler/plan.h"
#include "runtime/scheduler/recorder.h"
#include "runtime/scheduler/scheduler.h"

#include <string_view>

namespace schedscope {

/// Of graphs without attention: --set fa= would change nothing in them.
inline constexpr PlanAlternative same_with_any_attention[] = {{-1, "fa=on"}, {-1, "fa=off"}};

/// The records around one evaluation, whoever runs it. Without a recorder nothing happens.
/// `begin`: all but `observed` and `failed_check` filled in; failed_check: why the last graph was not reused, empty when it was or was the first.
void record_evaluation_begin(Recorder* recorder, const Scheduler& scheduler, EvaluationId id, record::EvaluationBegin begin,
                             std::string_view failed_check);
/// error: a sentence; null: it went well.
void record_evaluation_end(Recorder* recorder, const char* error);

} // namespace schedscope
