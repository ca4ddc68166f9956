#include "inspector/cli/commands/commands.h"

#include "inspector/cli/output/lines.h"
#include "inspector/cli/output/print_json.h"
#include "inspector/cli/show/show.h"
#include "inspector/cli/show/story_text.h"
#include "inspector/cli/show/trace_input.h"
#include "runtime/system/joined.h"
#include "traces/history/explain.h"
#include "traces/history/find_tensor.h"
#include "traces/history/namesakes.h"
#include "traces/history/words/unknown.h"
#include "traces/replay/levers.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <iostream>

namespace schedscope {

namespace {

struct ExplainArguments {
    std::string trace, tensor;
    std::optional<int> eval;
    bool json = false;
};

using nlohmann::json;

json name_json(const History& history, const PlanState& state, TensorId id) {
    return id == no_tensor ? json(nullptr) : json(history.tensor_name(state, id));
}

json namesakes_json(const History& history, const PlanState& state, const Namesakes& namesakes) {
    json list = json::array();
    for (const TensorId id : namesakes.others) {
        const TensorState& tensor = state.tensors[id];
        const bool is_decided = tensor.cause.value_or(Cause::none) != Cause::none; // else none did, or it is not known
        list.push_back({{"id", id},
                        {"op", or_null(operator_text(history.tensor(state, id)))},
                        {"backend", show::backend_json(history, tensor.backend)},
                        {"cause", is_decided ? json(cause_name(*tensor.cause, tensor.source)) : json(nullptr)}});
    }
    return list;
}

json levers_json(const FoundLevers& levers) {
    json list = json::array();
    for (const Lever& lever : levers.found) {
        json fit = json::array();
        for (const MemoryFit& of : lever.memory) {
            const bool known = of.memory > 0;
            fit.push_back({{"backend", of.backend},
                           {"memory_bytes", known ? json(of.memory) : json(nullptr)},
                           {"bytes", of.now},
                           {"fits", known ? json(of.fits(of.now)) : json(nullptr)}});
        }
        list.push_back({{"set", lever.settings.size() == 1 ? json(lever.settings.front()) : json(nullptr)},
                        {"sets", lever.settings},
                        {"words", lever.words},
                        {"backend", lever.backend},
                        {"moved", lever.n_moved},
                        {"fit", std::move(fit)}});
    }
    return list;
}

json story_json(const History& history, const PlanState& state, const Story& story, const Namesakes& namesakes,
                const FoundLevers& levers) {
    json steps = json::array();
    for (const StoryStep& s : story.steps) {
        json asked = json::array();
        for (const Asked& a : s.asked) {
            asked.push_back({{"backend", history.backend_name(a.backend)},
                             {"question", question_name(a.question)},
                             {"buffer_type", or_null(a.buffer_type)},
                             {"answer", a.answer},
                             {"why", or_null(a.why)}});
        }
        const std::string cause = s.cause ? cause_name(*s.cause, s.source) : "";
        steps.push_back({{"step", s.step},
                         {"pass", s.pass.value_or(Pass::none) == Pass::none ? json(nullptr) : json(pass_name(*s.pass))},
                         {"before", show::backend_json(history, or_none(s.before))},
                         {"after", show::backend_json(history, or_none(s.after))},
                         {"cause", or_null(cause)},
                         {"by", name_json(history, state, s.by)},
                         {"by_id", s.by == no_tensor ? json(nullptr) : json(s.by)},
                         {"note", or_null(s.note)},
                         {"asked", std::move(asked)}});
    }
    json lines = json::array();
    for (const StoryLine& l : story.lines) {
        lines.push_back({{"step", l.step}, {"what", story_kind_name(l.kind)}, {"text", l.text}});
    }
    return {{"tensor", story.name},
            {"id", story.tensor},
            {"eval", story.evaluation},
            {"planned_in", story.planned_in},
            {"namesakes", namesakes_json(history, state, namesakes)},
            {"story", std::move(steps)},
            {"then", std::move(lines)},
            {"otherwise", levers_json(levers)},
            {"why_no_otherwise", or_null(levers.why_none)}};
}

/// Where it runs in the last plan of another kind, if that is elsewhere: a prompt's nodes may run where a decode's don't. Of
/// several of its name, the one in the same place among them. Empty: as here, or that is not there.
std::string elsewhere(History& history, EvaluationId here, TensorId tensor) {
    constexpr EvaluationId most = 1000; // are looked at
    const record::EvaluationBegin begin = history.evaluation(here).begin;
    const PlanState& plan = history.plan(here);
    const std::string name = history.tensor_name(plan, tensor);
    const BackendId backend = plan.tensors[tensor].backend;
    const std::vector<TensorId> named = find_tensors(history, plan, name);
    const auto at = std::find(named.begin(), named.end(), tensor) - named.begin();
    const EvaluationId n = history.n_evaluations();
    for (EvaluationId e = n - 1; e >= std::max(0, n - most); --e) {
        const record::EvaluationBegin other = history.evaluation(e).begin;
        if (other.kind == begin.kind || other.kind == GraphKind::reserve || other.planned_in == begin.planned_in) {
            continue;
        }
        const PlanState& state = history.plan(e);
        const std::vector<TensorId> found = find_tensors(history, state, name);
        if (found.size() == named.size() && state.tensors[found[at]].backend != backend) {
            const std::string number = std::to_string(other.planned_in);
            return joined({"on ", history.backend_name(state.tensors[found[at]].backend), " in evaluation ", number, ", ",
                           kind_text(other.kind), ": --eval ", number});
        }
        return "";
    }
    return "";
}

} // namespace

CommandAction add_explain(CommandOptions& app) {
    auto options = std::make_shared<ExplainArguments>();
    add_trace_argument(app, options->trace);
    app.add_option(
           "tensor", options->tensor,
           "Tensor, by the name that is shown, NAME@ID for another than the first of several that compute, or #N, a node by "
           "its number")
        .required();
    add_eval_option(app, options->eval);
    app.add_flag("--json", options->json, "Print JSON");
    return [options] {
        const auto trace = open_trace(options->trace);
        History history(trace);
        const EvaluationId evaluation = choose_evaluation(history, options->eval);
        const Namesakes namesakes = find_namesakes(history, history.plan(evaluation), options->tensor);
        const Story story = explain(history, evaluation, namesakes.told);
        const FoundLevers levers = levers_of(*trace, story.planned_in, namesakes.told);
        if (options->json) {
            print_json(story_json(history, history.plan(evaluation), story, namesakes, levers));
        } else {
            print_story(history, history.plan(evaluation), story, std::cout);
            for (const std::string& line : levers_in_words(levers)) {
                OutputLine(std::cout) << "otherwise      " << line;
            }
            if (const std::string other = options->eval ? "" : elsewhere(history, evaluation, namesakes.told); !other.empty()) {
                OutputLine(std::cout) << "but            " << other;
            }
            for (const std::string& line : namesakes_in_words(history, history.plan(evaluation), namesakes)) {
                OutputLine(std::cout) << "same name      " << line;
            }
        }
        return 0;
    };
}

} // namespace schedscope
