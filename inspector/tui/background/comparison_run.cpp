#include "inspector/tui/background/comparison_run.h"

#include "inspector/tui/background/stoppable_source.h"
#include "runtime/error.h"
#include "traces/store/reading/reader.h"

#include <filesystem>
#include <utility>

namespace schedscope::tui {

void ComparisonRun::start_what_if(std::shared_ptr<const RecordSource> source, const std::string& settings,
                                  const BackendKnowledge& backends) {
    planned_again(*source, settings, backends); // a word that is not understood is told at once
    start([source = std::move(source), settings, backends](std::stop_token stop) {
        return compare_what_if(std::make_shared<StoppableSource>(source, std::move(stop)), settings, backends);
    });
    settings_ = settings;
}

void ComparisonRun::start_diff(std::shared_ptr<const RecordSource> source, const std::string& path) {
    start([source = std::move(source), path](const std::stop_token& stop) {
        const auto other =
            std::make_shared<TraceReader>(path, TraceReader::Options{.stop = [stop] { return stop.stop_requested(); }});
        return compare_traces(std::make_shared<StoppableSource>(source, stop), std::make_shared<StoppableSource>(other, stop),
                              std::filesystem::path(path).filename().string());
    });
}

void ComparisonRun::start(std::function<Comparison(std::stop_token)> compare) {
    if (running()) {
        throw Error(ErrorKind::usage, "the last comparison is not done yet");
    }
    error_.clear();
    task_.start(std::move(compare));
}

bool ComparisonRun::finish() {
    auto outcome = task_.finish();
    if (outcome.stopped) {
        return false;
    }
    error_ = std::move(outcome.error);
    if (outcome.result) {
        result_ = std::move(outcome.result);
    }
    return true;
}

} // namespace schedscope::tui
