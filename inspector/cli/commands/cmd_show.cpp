#include "inspector/cli/commands/commands.h"
#include "traces/history/accounts/passes.h"

#include "inspector/cli/output/interrupt.h"
#include "inspector/cli/output/lines.h"
#include "inspector/cli/output/print_json.h"
#include "inspector/cli/show/show.h"
#include "inspector/cli/show/trace_input.h"
#include "runtime/error.h"
#include "traces/store/reading/integrity.h"

#include <nlohmann/json.hpp>

#include <filesystem>
#include <future>
#include <iostream>

namespace schedscope {

namespace {

struct ShowArguments {
    std::string trace, what, pass;
    std::optional<int> eval;
    bool json = false;
};

/// Beside it the file is read through: a glance at a whole trace should say when it is not the one that was recorded.
/// Half a second may be waited for that; a larger one is left to the inspector.
int show_summary(const ShowArguments& options) {
    constexpr uintmax_t largest_read = uintmax_t{64} << 20;
    std::error_code none;
    const uintmax_t bytes = std::filesystem::file_size(options.trace, none); // of what is no file: the greatest number
    auto changes = bytes > largest_read ? std::future<std::optional<std::string>>()
                                        : std::async(std::launch::async, find_changes, options.trace, interrupted);
    History history(open_trace(options.trace));
    if (options.json) {
        print_json(show::summary_json(history));
    } else {
        show::summary_text(history, std::cout);
    }
    if (const std::optional<std::string> change = changes.valid() ? changes.get() : std::nullopt) {
        tell(*change);
    }
    return 0;
}

/// The state that was asked for: at the end of a pass, or of the whole evaluation.
const PlanState& choose_state(History& history, const ShowArguments& options) {
    const EvaluationId evaluation = choose_evaluation(history, options.eval);
    if (options.pass.empty()) {
        return history.plan(evaluation);
    }
    const Step step = accounts::end_of_pass(history, evaluation, parse_pass(options.pass));
    if (step == no_step) {
        throw Error(ErrorKind::usage, "--pass " + options.pass + ": not recorded in evaluation " + std::to_string(evaluation));
    }
    return history.state_at(step);
}

int show_topic(History& history, const ShowArguments& options) {
    const show::ShownTopic* topic = show::find_topic(options.what);
    if (topic == nullptr) {
        throw Error(ErrorKind::usage, "--what " + options.what + ": there is " + show::topic_names());
    }
    PlanState all;
    all.evaluation = -1;
    const PlanState state = topic->of_all && !options.eval && options.pass.empty() ? all : choose_state(history, options);
    if (options.json) {
        print_json(topic->json(history, state));
    } else {
        topic->print(history, state, std::cout);
    }
    return 0;
}

} // namespace

CommandAction add_show(CommandOptions& app) {
    auto options = std::make_shared<ShowArguments>();
    add_trace_argument(app, options->trace);
    app.add_option("--what", options->what, show::topic_names() + " (default: a summary)");
    add_eval_option(app, options->eval);
    app.add_option("--pass", options->pass, "State at the end of this pass: 1 2a 2b 2c 2d 3 4 5 optimise allocate execute");
    app.add_flag("--json", options->json, "Print JSON");
    return [options] {
        if (options->what.empty()) {
            if (options->eval || !options->pass.empty()) {
                throw Error(ErrorKind::usage, "--eval and --pass: the summary is of the whole trace; say --what too");
            }
            return show_summary(*options);
        }
        History history(open_trace(options->trace));
        return show_topic(history, *options);
    };
}

} // namespace schedscope
