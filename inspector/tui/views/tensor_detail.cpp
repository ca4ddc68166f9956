#include "inspector/tui/views/tensor_detail.h"

#include "inspector/tui/terminal/text.h"
#include "inspector/tui/views/story.h"
#include "runtime/numbers.h"
#include "runtime/ops/params.h"
#include "runtime/system/joined.h"
#include "traces/history/accounts/values.h"
#include "traces/history/words/unknown.h"
#include "traces/history/words/verdict_words.h"
#include "traces/history/words/words.h"
#include "viz/tables/nodes.h"

#include <algorithm>

namespace schedscope::tui {
namespace {

Line source_line(InspectorSession& session, std::string label, TensorId id) {
    const PlanState& state = session.state();
    Line l;
    label.resize(std::max<size_t>(label.size() + 1, 7), ' ');
    l.hang = n_of(label);
    l.parts.push_back({std::move(label), dim});
    l.parts.push_back({session.name(id)});
    if (is_index(id, state.tensors)) {
        const TensorState& s = state.tensors[id];
        l.parts.push_back({" ("});
        l.parts.push_back(backend_text(session, s.backend));
        l.parts.push_back({")"});
    }
    if (const TensorInfo* const info = session.row_of(id) >= 0 ? &session.history().tensor(state, id) : nullptr;
        info != nullptr && info->usage == BufferUsage::weights) {
        const std::string memory = session.history().buffer_type_name(info->buffer_type);
        const bool is_its_backends = is_index(id, state.tensors) && memory == session.backend_name(state.tensors[id].backend);
        l.parts.push_back({is_its_backends || info->buffer_type == no_buffer_type ? " weight" : " weight in " + memory, dim});
    }
    l.target = Target::tensor(id);
    return l;
}

/// In five cells.
std::string_view short_name(Pass pass) {
    switch (pass) {
    case Pass::none: return "-";
    case Pass::optimise: return "opt";
    case Pass::allocate: return "alloc";
    case Pass::execute: return "exec";
    default: return pass_name(pass);
    }
}

void add_answers(InspectorSession& session, std::vector<Line>& lines, TensorId id, int width) {
    const PlanState& state = session.state();
    const CapabilityTable& answers = session.history().source().answers(state.graph);
    if (session.is_copy(id) || session.graph()->tensors[id].op == Op::NONE) {
        return;
    }
    bool first = true;
    for (BackendId b = 0; b < session.n_backends(); ++b) {
        if (!answers.has(b, id)) {
            continue;
        }
        const Answer& answer = answers.op_answer(b, id);
        std::string text = session.backend_name(b) + (answer.yes ? " yes" : " no");
        if (const std::string why = words::refusal(answer.reason, answer.detail, ", "); !answer.yes && !why.empty()) {
            text += ": " + why;
        }
        add_wrapped(lines, width, first ? "can run" : "", 8, text, answer.yes ? Style{} : warning);
        first = false;
    }
}

/// What it held when its backend last computed it in this evaluation, if it was watched.
void add_values(InspectorSession& session, std::vector<Line>& lines, TensorId id, int width) {
    const PlanState& state = session.state();
    const auto last = std::find_if(state.values.rbegin(), state.values.rend(),
                                   [&](const ValueState& v) { return v.value.tensor == id && v.value.device == 0; });
    if (last == state.values.rend()) {
        return;
    }
    const accounts::ValueRow row = accounts::value_row(session.history(), *last, session.step());
    const record::Value& v = row.value;
    add_heading(lines, "values");
    const bool finite = v.n_elements > v.n_nan + v.n_inf;
    if (finite) {
        add_wrapped(lines, width, "range", 8, joined({words::number(v.min), " … ", words::number(v.max)}));
        add_wrapped(lines, width, "mean", 8, joined({words::number(v.mean), ", norm ", words::number(v.norm)}));
        Line bars;
        bars.hang = 8;
        bars.parts.push_back({"spread  ", dim});
        bars.parts.push_back({"▕" + words::bars(row.histogram) + "▏"});
        lines.push_back(std::move(bars));
    }
    if (v.n_nan + v.n_inf > 0 || !finite) {
        add_wrapped(lines, width, "finite", 8,
                    joined({counted(v.n_elements - v.n_nan - v.n_inf, "element"), " of ", std::to_string(v.n_elements), "; ",
                            std::to_string(v.n_nan), " NaN, ", std::to_string(v.n_inf), " infinite"}),
                    warning);
    }
    add_first_elements(lines, width, row.first);
}

} // namespace

std::string op_text(const InspectorSession& session, TensorId id) {
    return id == no_tensor ? "-" : tables::operator_word(session.history(), session.state(), id);
}

std::string type_and_shape(const TensorInfo& info) {
    return info.type || info.ne ? type_text(info) + " " + shape_text(info) : "type and shape are not known";
}

std::string tensor_label(InspectorSession& session, TensorId id) {
    if (!session.graph() || id < 0) {
        return "-";
    }
    const bool node = !session.is_copy(id) && !session.graph()->tensors[id].is_leaf();
    const std::string what = joined({op_text(session, id), " ", session.name(id)});
    return node ? joined({"#", std::to_string(session.row_of(id)), " ", what}) : what;
}

void add_first_elements(std::vector<Line>& lines, int width, const std::vector<double>& first) {
    if (!first.empty()) {
        add_wrapped(lines, width, "first", 8, joined(first, " ", words::number));
    }
}

void add_tensor_detail(std::vector<Line>& lines, InspectorSession& session, TensorId id, int width, bool with_values) {
    const std::vector<Line> all = tensor_detail(session, id, width, with_values);
    lines.insert(lines.end(), all.begin(), all.end());
}

std::vector<Line> tensor_detail(InspectorSession& session, TensorId id, int width, bool with_values) {
    std::vector<Line> lines;
    if (session.row_of(id) < 0) {
        return lines;
    }
    const PlanState& state = session.state();
    const TensorInfo& info = session.history().tensor(state, id);
    const bool copy = session.is_copy(id);

    if (!state.error.empty()) {
        add_wrapped(lines, width, "failed", 8, state.error, bad);
    }
    if (!state.verdicts.empty() && !state.verdicts.back().reproduced()) {
        add_wrapped(lines, width, "verdict", 8,
                    verdict_line(session.history().source(), state) + (causes_verified(state) ? "" : "; causes are not verified"),
                    bad);
    }
    Line what;
    what.parts.push_back({op_text(session, id), bold});
    const std::optional<int64_t> bytes = info.bytes();
    if (info.type || info.ne || session.shows_unknown()) {
        what.parts.push_back({"  " + type_and_shape(info) + (bytes ? "  " + words::bytes(*bytes) : "")});
    }
    lines.push_back(std::move(what));

    if (is_index(id, state.tensors) &&
        (state.tensors[id].backend != no_backend || session.knows(Topic::passes) || session.shows_unknown())) {
        const TensorState& now = state.tensors[id];
        Line l;
        l.hang = 8;
        l.parts.push_back({"now     ", dim});
        if (now.backend == no_backend) {
            l.parts.push_back({session.knows(Topic::passes) ? "unassigned" : "where it runs is not known", bold});
        } else {
            Text backend = backend_text(session, now.backend);
            backend.style.bold = true;
            l.parts.push_back(std::move(backend));
        }
        if (const std::string cause = now.cause ? cause_name(*now.cause, now.source) : ""; !cause.empty()) {
            l.parts.push_back({" by " + cause});
        }
        if (const BackendId was = session.was(id); was != now.backend) {
            l.parts.push_back({", was " + (was == no_backend ? std::string("unassigned") : session.backend_name(was)), accent});
        }
        if (now.split >= 0) {
            l.parts.push_back({", split " + std::to_string(now.split)});
            l.target = Target::split(now.split);
        }
        lines.push_back(std::move(l));
    }
    std::string marks = joined(words::flag_names(info.flags), ", ");
    const auto& types = session.history().session().buffer_types;
    if (!copy && info.buffer_type != no_buffer_type && is_index(info.buffer_type, types)) {
        marks += (marks.empty() ? "" : ", ") + ("in " + types[info.buffer_type].name) +
                 (info.usage == BufferUsage::weights ? " with the weights" : "");
    }
    if (!copy && info.user_backend != no_backend) {
        marks += (marks.empty() ? "" : ", ") + ("pinned to " + session.backend_name(info.user_backend));
    }
    if (!marks.empty()) {
        add_wrapped(lines, width, "is", 8, marks);
    }
    if (copy) {
        if (const record::CopyMade* made = session.copy(id)) {
            lines.push_back(source_line(session, "copy of", made->of));
            if (made->stage) {
                add_wrapped(lines, width, "stage", 8,
                            std::to_string(*made->stage) + (made->graph_input ? ", an input kept once per stage" : ""));
            }
        }
    } else {
        if (info.is_view()) {
            lines.push_back(source_line(session, "view of", info.view_source));
        }
        for (size_t i = 0; i < info.src.size(); ++i) {
            if (info.src[i] == no_tensor) {
                continue;
            }
            const auto rewired = std::find_if(state.rewires.begin(), state.rewires.end(),
                                              [&](const record::Rewired& r) { return r.node == id && r.source == int_of(i); });
            lines.push_back(source_line(session, "src " + std::to_string(i), info.src[i]));
            if (rewired != state.rewires.end()) {
                lines.push_back(source_line(session, "   now", rewired->copy));
            }
        }
        constexpr size_t most_users = 6;
        const auto users = session.users_of(id);
        for (size_t i = 0; i < std::min(users.size(), most_users); ++i) {
            lines.push_back(source_line(session, i == 0 ? "read by" : "", users[i]));
        }
        if (users.size() > most_users) {
            lines.push_back(line("        and " + counted(users.size() - most_users, "more node"), dim));
        }
        add_answers(session, lines, id, width);
    }

    if (with_values) {
        add_values(session, lines, id, width);
    }
    int n_ahead = 0;
    const std::vector<StoryPart> parts = story(session, id, n_ahead);
    add_heading(lines, "story");
    for (const StoryPart& part : parts) {
        add_wrapped(lines, width, part.pass ? short_name(*part.pass) : unknown_text, 6, part.text, {},
                    part.step == no_step ? Target{} : Target::step(part.step), part.step == session.step());
        for (const std::string& asked : part.asked) {
            add_wrapped(lines, width, "", 8, asked, dim, Target::step(part.step));
        }
    }
    if (parts.empty()) {
        lines.push_back(line("nothing is recorded of it yet", dim));
    }
    if (n_ahead > 0) {
        lines.push_back(line("… " + counted(n_ahead, "more record") + " after this step", dim));
    }
    return lines;
}

} // namespace schedscope::tui
