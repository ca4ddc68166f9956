#include "inspector/cli/commands.h"

#include "inspector/cli/print_json.h"
#include "inspector/cli/trace_input.h"
#include "runtime/error.h"
#include "traces/explain.h"

#include <nlohmann/json.hpp>

#include <iomanip>
#include <iostream>

namespace schedscope {

namespace {

struct Options {
    std::string trace, tensor;
    std::optional<int> eval;
    bool json = false;
};

using nlohmann::json;

json backend_json(const History& history, BackendId id) {
    return id == no_backend ? json(nullptr) : json(history.backend_name(id));
}

json story_json(const History& history, const Story& story) {
    json steps = json::array();
    for (const StoryStep& s : story.steps) {
        json asked = json::array();
        for (const Asked& a : s.asked) {
            asked.push_back({{"backend", history.backend_name(a.backend)},
                             {"question", question_name(a.question)},
                             {"buffer_type", a.buffer_type.empty() ? json(nullptr) : json(a.buffer_type)},
                             {"answer", a.answer},
                             {"why", a.why.empty() ? json(nullptr) : json(a.why)}});
        }
        const std::string cause = cause_name(s.cause, s.source);
        steps.push_back({{"step", s.step},
                         {"pass", pass_name(s.pass)},
                         {"before", backend_json(history, s.before)},
                         {"after", backend_json(history, s.after)},
                         {"cause", cause.empty() ? json(nullptr) : json(cause)},
                         {"by", s.by.empty() ? json(nullptr) : json(s.by)},
                         {"asked", std::move(asked)}});
    }
    json lines = json::array();
    for (const StoryLine& l : story.lines) {
        lines.push_back({{"step", l.step}, {"what", l.what}, {"text", l.text}});
    }
    return {{"tensor", story.name},           {"id", story.tensor},        {"eval", story.evaluation},
            {"planned_in", story.planned_in}, {"story", std::move(steps)}, {"then", std::move(lines)}};
}

std::string question_text(const Asked& a) {
    switch (a.question) {
    case Question::op: return "runs this operator?";
    case Question::buffer_type: return "can use " + a.buffer_type + " memory?";
    case Question::offload: return "wants to take it over?";
    }
    return {};
}

void story_text(const History& history, const PlanState& state, const Story& story, std::ostream& out) {
    const TensorInfo& tensor = history.tensor(state, story.tensor);
    out << story.name << "  " << op_description(tensor.op, tensor.params[0]) << "  " << type_name(tensor.type) << ' '
        << shape_text(tensor.ne) << "  (evaluation " << story.evaluation;
    if (story.planned_in != story.evaluation) {
        out << ", planned in " << story.planned_in;
    }
    out << ")\n";
    for (size_t i = 0; i < tensor.src.size(); ++i) {
        if (tensor.src[i] != no_tensor) {
            out << "  source " << i << "  " << history.tensor_name(state, tensor.src[i]) << "  on "
                << history.backend_name(state.tensors[static_cast<size_t>(tensor.src[i])].backend) << '\n';
        }
    }
    for (const StoryStep& s : story.steps) {
        out << "pass " << std::left << std::setw(3) << pass_name(s.pass) << std::setw(11) << pass_title(s.pass);
        if (s.cause == Cause::none) {
            out << "unchanged, " << (s.after == no_backend ? "unassigned" : "on " + history.backend_name(s.after));
        } else {
            out << (s.after == no_backend ? "still unassigned" : history.backend_name(s.after)) << " by "
                << cause_name(s.cause, s.source);
            if (!s.by.empty()) {
                out << " (" << s.by << ')';
            }
            if (s.before != no_backend && s.before != s.after) {
                out << ", before: " << history.backend_name(s.before);
            }
        }
        out << "  [step " << s.step << "]\n";
        for (const Asked& a : s.asked) {
            out << "      " << history.backend_name(a.backend) << ' ' << question_text(a) << ' '
                << (a.answer        ? "yes"
                    : a.why.empty() ? "no"
                                    : "no: " + a.why)
                << '\n';
        }
    }
    for (const StoryLine& l : story.lines) {
        out << std::left << std::setw(13) << l.what << "  " << l.text << "  [step " << l.step << "]\n";
    }
}

} // namespace

Action add_explain(CLI::App& app) {
    auto options = std::make_shared<Options>();
    app.add_option("trace", options->trace, "Trace file")->required();
    app.add_option("tensor", options->tensor, "Tensor, by the name that is shown; NAME@ID where several have it")->required();
    app.add_option("--eval", options->eval, "Evaluation, from 0 (default: the last one planned)");
    app.add_flag("--json", options->json, "Print JSON");
    return [options] {
        History history(open_trace(options->trace));
        const EvaluationId evaluation = choose_evaluation(history, options->eval);
        const TensorId tensor = find_tensor(history, history.plan(evaluation), options->tensor);
        const Story story = explain(history, evaluation, tensor);
        if (options->json) {
            print_json(story_json(history, story));
        } else {
            story_text(history, history.plan(evaluation), story, std::cout);
        }
        return 0;
    };
}

} // namespace schedscope
