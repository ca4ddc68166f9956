#include "inspector/cli/show/trace_input.h"

#include "inspector/cli/line/installed.h"
#include "inspector/cli/output/interrupt.h"
#include "inspector/cli/output/lines.h"
#include "runtime/error.h"
#include "runtime/system/joined.h"
#include "traces/history/words/words.h"
#include "traces/store/reading/reader.h"

#include <filesystem>

namespace schedscope {

void require_trace(const std::string& path) {
    std::error_code failed;
    if (std::filesystem::exists(path, failed)) {
        return; // whoever opens it says what else is wrong
    }
    if (const std::string sample = installed::sample_called(path); !sample.empty()) {
        throw Error(ErrorKind::input, path + ": there is no such file" + sample);
    }
}

std::shared_ptr<const RecordSource> open_trace(const std::string& path) {
    require_trace(path);
    auto reader = std::make_shared<TraceReader>(path, TraceReader::Options{.stop = interrupted});
    for (const std::string& note : reader->notes()) {
        tell(joined({path, ": ", note}));
    }
    return reader;
}

void add_trace_argument(CommandOptions& app, std::string& trace) { app.add_option("trace", trace, "Trace file").required(); }

void add_eval_option(CommandOptions& app, std::optional<int>& eval) {
    app.add_option("--eval", eval, "Evaluation, from 0 (default: the first prompt that was planned, else the last plan)");
}

EvaluationId choose_evaluation(const History& history, std::optional<int> asked) {
    const int n = history.n_evaluations();
    if (asked && (*asked < 0 || *asked >= n)) {
        throw Error(ErrorKind::usage,
                    "--eval " + std::to_string(*asked) + ": the trace has evaluations " + words::evaluations(n));
    }
    const EvaluationId chosen = asked ? *asked : history.opening();
    if (chosen < 0) {
        throw Error(ErrorKind::input, "the trace holds no planned evaluation");
    }
    return chosen;
}

Pass parse_pass(const std::string& text) {
    const Pass pass = pass_from_name(text);
    if (pass == Pass::count || pass == Pass::none) {
        throw Error(ErrorKind::usage,
                    "--pass " + text + ": not a pass; passes are 1 2a 2b 2c 2d 3 4 5 optimise allocate execute");
    }
    return pass;
}

} // namespace schedscope
