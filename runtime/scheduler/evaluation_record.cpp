#include "runtime/scheduler/evaluation_record.h"

namespace schedscope {

void record_session(const Scheduler& scheduler, SessionInfo session) {
    if (Recorder* recorder = scheduler.recorder()) {
        SessionInfo met = scheduler.session();
        session.backends = std::move(met.backends);
        session.buffer_types = std::move(met.buffer_types);
        recorder->session(session);
    }
}

void record_evaluation_begin(const Scheduler& scheduler, EvaluationId id, record::EvaluationBegin begin,
                             std::string_view failed_check) {
    Recorder* recorder = scheduler.recorder();
    if (recorder == nullptr) {
        return;
    }
    if (id == 0) {
        recorder->flush(); // who writes a file makes it now: that is no part of the evaluation
    }
    recorder->set_evaluation(id);
    begin.observed =
        recorder->grain() == Recorder::Grain::node || scheduler.watcher() != nullptr || scheduler.observer() != nullptr;
    begin.failed_check = failed_check.empty() ? 0 : recorder->intern(failed_check);
    recorder->add(begin);
}

void record_evaluation_end(const Scheduler& scheduler, const char* error) {
    Recorder* recorder = scheduler.recorder();
    if (recorder == nullptr) {
        return;
    }
    recorder->add(record::EvaluationEnd{error != nullptr, error != nullptr ? recorder->intern(error) : 0});
    recorder->flush();
}

} // namespace schedscope
