#include "inspector/tui/background/lever_run.h"

#include "inspector/tui/background/stoppable_source.h"
#include "traces/replay/levers.h"

#include <utility>

namespace schedscope::tui {

const std::vector<std::string>* LeverRun::of(const std::shared_ptr<const RecordSource>& source, EvaluationId evaluation,
                                             TensorId tensor, Step recorded) {
    if (evaluation != wanted_.evaluation || tensor != wanted_.tensor || recorded != wanted_.recorded) {
        wanted_ = {source, evaluation, tensor, recorded};
        found_.reset();
        if (task_.running()) {
            task_.stop(); // `finish` begins with what is wanted now
        } else {
            start();
        }
    }
    return found_ ? &*found_ : nullptr;
}

void LeverRun::start() {
    task_.start([wanted = wanted_](std::stop_token stop) {
        const StoppableSource source(wanted.source, std::move(stop));
        return levers_in_words(levers_of(source, wanted.evaluation, wanted.tensor));
    });
}

bool LeverRun::finish() {
    auto outcome = task_.finish();
    if (outcome.stopped) {
        start();
        return false;
    }
    found_ = outcome.result ? std::move(*outcome.result) : std::vector<std::string>();
    return true;
}

} // namespace schedscope::tui
