#include "inspector/cli/commands/commands.h"

#include "inspector/cli/output/lines.h"
#include "inspector/cli/output/print_json.h"
#include "inspector/cli/show/diff_json.h"
#include "inspector/cli/show/diff_text.h"
#include "inspector/cli/show/trace_input.h"
#include "runtime/system/number_words.h"
#include "traces/history/accounts/as_logged.h"
#include "traces/history/words/words.h"

#include <nlohmann/json.hpp>

#include <iostream>

namespace schedscope {

namespace {

struct DiffArguments {
    std::string a, b;
    std::optional<int> eval;
    bool all = false, times = false, json = false;
};

void say_what_they_are(const char* which, const std::string& path, const History& history, std::ostream& out) {
    OutputLine line(out);
    line << which << "  " << path;
    const char* separator = ": ";
    for (const std::string& what : {words::model_of(history.session()), session_fact(history.session(), "architecture")}) {
        if (!what.empty()) {
            line << separator << what;
            separator = ", ";
        }
    }
    for (const BackendInfo& backend : history.session().backends) {
        line << separator << backend.name;
        separator = ", ";
    }
    line << separator << words::counted(history.n_evaluations(), "evaluation");
}

/// What a log leaves out may be most of what differs, or differ where all else is the same. A model may say it.
void say_what_a_model_adds(const char* which, const History& log, const History& other, bool identical, std::ostream& out) {
    const bool lists_nodes = session_fact(log.session(), accounts::log_level_fact).starts_with('2');
    if (lists_nodes && !log.knows(Topic::shapes) && other.knows(Topic::shapes)) {
        OutputLine(out) << which
                        << (identical ? " is made of a log, whose tensors' sizes are not compared: import LOG -m MODEL fills "
                                        "shapes in, and then they are"
                                      : " is made of a log, which leaves out views, shapes and what is a weight: import LOG -m "
                                        "MODEL fills them in, and less may differ");
    }
}

/// Another program's tokens are not recorded, nor are they in a log.
void say_that_tokens_are_not_compared(const char* which, const History& knows, const History& other, std::ostream& out) {
    const bool has_some = knows.source().next_of(-1, fact_bit<record::NextToken>()) != no_step;
    if (knows.knows(Topic::tokens) && has_some && !other.knows(Topic::tokens)) {
        OutputLine(out) << "generated tokens are known of " << which << " alone: they are not compared";
    }
}

} // namespace

CommandAction add_diff(CommandOptions& app) {
    auto options = std::make_shared<DiffArguments>();
    app.footer(
        "Graphs are aligned by their structure, not by names alone. Exit code 0: every decision is the same; 1: some differ.\n"
        "Decisions are counted once for all evaluations that run a plan: the backend of each tensor that both have, splits,\n"
        "inputs, copies, fused groups, the order of nodes, buffers and places in memory; and of each evaluation, whether it\n"
        "failed or ran a graph again, and its tokens.\n"
        "Settings and times are shown, but don't make traces different: no two runs take the same time.");
    app.add_option("a", options->a, "Trace file").required();
    app.add_option("b", options->b, "Trace file that it is compared with").required();
    app.add_option("--eval", options->eval, "Only this evaluation of the first, from 0, and its partner");
    app.add_flag("--times", options->times, "How long evaluations, splits and kernels took, too");
    app.add_flag("--all", options->all, "A line for each difference and setting; otherwise alike ones are folded");
    app.add_flag("--json", options->json, "Print JSON");
    return [options] {
        History a(open_trace(options->a)), b(open_trace(options->b));
        const diff::Result result = diff::compare(a, b, {options->eval});
        if (options->json) {
            print_json(diff_json(result));
        } else {
            if (!result.identical()) {
                say_what_they_are("a", options->a, a, std::cout);
                say_what_they_are("b", options->b, b, std::cout);
            }
            const auto say_what_is_not_compared = [&] {
                say_that_tokens_are_not_compared("a", a, b, std::cout);
                say_that_tokens_are_not_compared("b", b, a, std::cout);
                say_what_a_model_adds("a", a, b, result.identical(), std::cout);
                say_what_a_model_adds("b", b, a, result.identical(), std::cout);
            };
            if (!result.identical()) {
                say_what_is_not_compared();
            }
            print_diff(result, a, b, {options->all, options->times}, std::cout);
            if (result.identical()) {
                say_what_is_not_compared();
            }
        }
        return result.identical() ? 0 : 1;
    };
}

} // namespace schedscope
