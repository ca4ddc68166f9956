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
    std::string trace, what, pass, by;
    std::optional<int> eval;
    bool all = false, json = false;
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
    const EvaluationId evaluation = options.eval ? choose_evaluation(history, options.eval) : -1;
    if (options.json) {
        print_json(show::summary_json(history, evaluation));
    } else {
        show::summary_text(history, evaluation, std::cout, options.all);
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
        throw Error(ErrorKind::usage,
                    "--what " + options.what + ": there are " + show::topic_names() + show::meant_topic(options.what));
    }
    if (!options.by.empty()) {
        if (topic->what != "time") {
            throw Error(ErrorKind::usage, "--by: it is of --what time");
        }
        topic = show::find_time(options.by);
        if (topic == nullptr) {
            throw Error(ErrorKind::usage,
                        "--by " + options.by + ": there are " + show::time_names() + show::meant_time(options.by));
        }
    }
    PlanState all;
    all.evaluation = -1;
    const PlanState state = topic->of_all && !options.eval && options.pass.empty() ? all : choose_state(history, options);
    if (options.json) {
        print_json(topic->json(history, state));
    } else {
        topic->print(history, state, std::cout, options.all);
    }
    return 0;
}

} // namespace

CommandAction add_show(CommandOptions& app) {
    auto options = std::make_shared<ShowArguments>();
    add_trace_argument(app, options->trace);
    app.add_option("--what", options->what, show::topic_names() + " (default: a summary)");
    app.add_option("--by", options->by,
                   "With --what time: what it is told apart by, " + show::time_names() + " (default: device)");
    add_eval_option(app, options->eval);
    app.add_option("--pass", options->pass, "State at the end of this pass: 1 2a 2b 2c 2d 3 4 5 optimise allocate execute");
    app.add_flag("--all", options->all, "Also what only says that something is not known (?), as of imported logs");
    app.add_flag("--json", options->json, "Print JSON");
    return [options] {
        if (options->what.empty()) {
            if (!options->pass.empty() || !options->by.empty()) {
                throw Error(ErrorKind::usage, "--pass and --by: the summary is of whole plans; say --what too");
            }
            return show_summary(*options);
        }
        History history(open_trace(options->trace));
        return show_topic(history, *options);
    };
}

} // namespace schedscope
