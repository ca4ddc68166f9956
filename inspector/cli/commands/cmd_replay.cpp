#include "inspector/cli/commands/commands.h"
#include "inspector/cli/run/device_profiles.h"

#include "inspector/cli/output/lines.h"
#include "inspector/cli/output/print_json.h"
#include "inspector/cli/show/trace_input.h"
#include "inspector/cli/show/what_if_text.h"
#include "runtime/error.h"
#include "runtime/system/joined.h"
#include "runtime/system/number_words.h"
#include "traces/replay/no_change.h"
#include "traces/replay/replay.h"
#include "traces/replay/what_if.h"

#include <nlohmann/json.hpp>

#include <iostream>

namespace schedscope {

namespace {

struct ReplayArguments {
    std::string trace;
    std::vector<std::string> settings;
    bool json = false;
};

nlohmann::json result_json(const ReplayResult& result, const SessionInfo& session) {
    using nlohmann::json;
    json differences = json::array();
    for (const ReplayDifference& d : result.differences) {
        differences.push_back({{"eval", d.evaluation},
                               {"tensor", d.name},
                               {"what", d.what},
                               {"recorded", or_null(d.recorded)},
                               {"now", or_null(d.now)}});
    }
    json object = {{"plans", result.plans},
                   {"compared", result.compared},
                   {"identical", result.identical},
                   {"left_out", nullptr},
                   {"differences", std::move(differences)}};
    if (result.stopped) {
        object["left_out"] = {{"eval", result.stopped->evaluation},
                              {"pass", pass_name(result.stopped->plan.pass)},
                              {"why", result.stopped->told()}};
    }
    if (!result.comparisons.empty()) {
        object["summary"] = what_if_summary(result, session);
    }
    return object;
}

void result_text(const ReplayResult& result, std::ostream& out) {
    out << text_of(result) << '\n';
    for (const ReplayDifference& d : result.differences) {
        OutputLine(out) << "  evaluation " << d.evaluation << ", " << d.what << " of " << d.name << ": recorded "
                        << (d.recorded.empty() ? "nothing" : d.recorded) << ", now " << (d.now.empty() ? "nothing" : d.now);
    }
    if (result.n_differences > std::ssize(result.differences)) {
        out << "  … " << words::and_more(result.n_differences - std::ssize(result.differences), "difference") << '\n';
    }
}

int plan_again(const std::shared_ptr<const RecordSource>& source, const ReplayArguments& options) {
    const BackendKnowledge backends = backend_knowledge();
    WhatIf what_if;
    what_if.profiles = backends.profiles;
    for (const std::string& setting : options.settings) {
        what_if.set(setting);
    }
    const bool changes = !options.settings.empty();
    ReplayOptions how = changes ? options_for(what_if, *source) : ReplayOptions{};
    how.optimise = backends.optimise;
    if (options.json) {
        how.max_differences = SIZE_MAX;
    }
    const ReplayResult result = replay(*source, how);
    if (result.stopped && !options.json) {
        OutputLine(std::cout) << result.stopped->told();
    }
    const bool unchanged = changes && result.n_differences == 0;
    const std::vector<std::string> why = unchanged ? why_nothing_changed(what_if, source) : std::vector<std::string>();
    if (options.json) {
        nlohmann::json object = result_json(result, source->session());
        if (unchanged) {
            object["why_unchanged"] = why;
        }
        for (const auto& [name, profile] : how.profiles) {
            const ProfileCounts n = profile->counts();
            object["profiles"].push_back(
                {{"device", name}, {"exact", n.exact}, {"inferred", n.inferred}, {"unknown", n.unknown}, {"assumed", n.assumed}});
        }
        print_json(object);
    } else if (changes) {
        what_if_text(result, source->session(), why, std::cout);
        for (const auto& [name, profile] : how.profiles) {
            OutputLine(std::cout) << name << ": " << profile->counts().text();
        }
    } else {
        result_text(result, std::cout);
    }
    return result.n_differences == 0 || changes ? 0 : 1; // a what-if is meant to differ
}

} // namespace

CommandAction add_replay(CommandOptions& app) {
    auto options = std::make_shared<ReplayArguments>();
    add_trace_argument(app, options->trace);
    app.footer("Decisions are counted pass by pass: every assignment of every pass, splits, inputs, copies, buffers and places "
               "in memory.\n"
               "These are more than those in `show TRACE --what verdicts`, which are what ggml itself lets see.");
    app.add_option("--set", options->settings,
                   "What if: " +
                       joined(what_if_settings(), ", ",
                              [](const WhatIfSetting& s) { return std::string(s.name) + "=" + std::string(s.value); }) +
                       " (repeatable)")
        .one_value_each();
    app.add_flag("--json", options->json, "Print JSON");
    return [options] {
        const auto source = open_trace(options->trace);
        try {
            return plan_again(source, *options);
        } catch (const Error& error) {
            if (error.kind() == ErrorKind::usage && !options->settings.empty()) { // it begins with the setting that can't be
                throw Error(ErrorKind::usage, std::string("--set ") + error.what());
            }
            throw;
        }
    };
}

} // namespace schedscope
