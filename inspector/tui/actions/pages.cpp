#include "inspector/tui/actions/pages.h"

#include "inspector/tui/manual_tables.h"
#include "inspector/tui/terminal/text.h"
#include "inspector/tui/views/tensor_detail.h"
#include "runtime/numbers.h"
#include "runtime/system/joined.h"
#include "traces/history/explain.h"
#include "traces/history/namesakes.h"
#include "traces/history/words/story_words.h"
#include "traces/history/words/unknown.h"
#include "traces/history/words/words.h"
#include "traces/replay/levers.h"

#include <algorithm>

namespace schedscope::tui {
namespace {

Line labelled(std::string label, int width, std::string text) {
    Line l;
    l.parts.push_back({padded(std::move(label), width), bold});
    l.parts.push_back({std::move(text)});
    l.hang = width;
    return l;
}

void add_once(std::vector<TensorId>& ids, TensorId id) {
    if (id != no_tensor && std::find(ids.begin(), ids.end(), id) == ids.end()) {
        ids.push_back(id);
    }
}

/// Why it can't be said what would put a tensor elsewhere. Nothing: it is looked for.
std::optional<std::string> why_no_otherwise(InspectorSession& session) {
    if (std::optional<std::string> why = session.why_no_what_if()) {
        return why;
    }
    const PlanState& plan = session.history().plan(session.state().planned_in);
    if (!plan.error.empty()) {
        return "the plan failed";
    }
    return plan.graph < 0 || (!plan.planned && session.running()) ? std::optional<std::string>("the plan is being made")
                                                                  : std::nullopt;
}

} // namespace

std::vector<Line> keys_page(const KeyMap& keys, KeyContext where, const std::function<bool(Action)>& works) {
    std::vector<Line> lines;
    for (const Binding& binding : keys.bindings()) {
        if ((binding.contexts & where) != 0 && binding.keys.front() != key_none && works(binding.action)) {
            lines.push_back(labelled(keys_text(binding), 18, binding.help));
        }
    }
    if (where == in_popup) {
        return lines;
    }
    add_heading(lines, "Mouse");
    for (const manual::TableRow& row : manual_table("mouse")) {
        lines.push_back(labelled(row.term, 18, row.meaning));
    }
    add_heading(lines, "The top line");
    for (const manual::TableRow& row : manual_table("top-line")) {
        lines.push_back(labelled(row.term, 18, row.meaning));
    }
    add_heading(lines, "A query (search, filter, breakpoints); Tab completes, :help queries says more");
    for (const char* const table : {"signs", "fields"}) {
        for (const manual::TableRow& row : manual_table(table)) {
            lines.push_back(labelled(row.term, 18, row.meaning));
        }
    }
    add_heading(lines, "The manual");
    lines.push_back(labelled(":help", 18, "lists its topics, :help TOPIC shows one"));
    return lines;
}

std::vector<Line> topic_page(const manual::Topic& topic, int width) {
    std::vector<Line> lines;
    for (const manual::ManualLine& l : manual::lines_of(topic, width, manual::Ticks::hidden)) {
        Line out;
        for (const manual::Piece& piece : l.pieces) {
            out.parts.push_back({piece.text, l.heading || piece.literal ? bold : Style{}});
        }
        lines.push_back(std::move(out));
    }
    return lines;
}

std::vector<Line> topics_page() {
    std::vector<Line> lines;
    for (const manual::TableRow& row : manual::topic_list()) {
        lines.push_back(labelled(row.term, 12, row.meaning));
    }
    lines.push_back({});
    lines.push_back(line(":help TOPIC shows one, and so does `schedscope help TOPIC` in a shell", dim));
    return lines;
}

std::vector<Line> story_page(InspectorSession& session, TensorId id, int width) {
    if (session.row_of(id) < 0) {
        return {line("it is not in the graph of this step", dim)};
    }
    const Story story = explain(session.history(), session.state().evaluation, id);
    const TensorInfo& info = session.history().tensor(session.state(), id);
    std::vector<Line> lines;
    const std::string shape = info.type || info.ne || session.shows_unknown() ? "  " + type_and_shape(info) : "";
    add_wrapped(lines, width, "", 0,
                joined({tensor_label(session, id), shape, "  evaluation ", std::to_string(story.evaluation),
                        story.planned_in == story.evaluation ? "" : ", planned in " + std::to_string(story.planned_in)}),
                bold);
    const std::vector<std::string> told = words::story_sources(session.history(), session.state(), story);
    const std::vector<TensorId> sources = sources_of(session, id);
    for (size_t i = 0; i < std::min(told.size(), sources.size()); ++i) { // "source 0  norm-0@55  on Vulkan0"
        const size_t behind = told[i].find("  ");
        add_wrapped(lines, width, told[i].substr(0, behind), 14, told[i].substr(behind + 2), {}, Target::tensor(sources[i]));
    }
    const Step now = session.step();
    const auto ink = [&](Step step) { return step > now ? dim : Style{}; };
    for (const StoryStep& s : story.steps) {
        add_wrapped(lines, width, s.pass ? words::pass_and_title(*s.pass) : std::string("pass ") + unknown_text, 14,
                    words::decided(session.history(), session.state(), s) + "  [step " + words::count(s.step) + "]", ink(s.step),
                    Target::step(s.step), s.step == now);
        for (const Asked& asked : s.asked) {
            add_wrapped(lines, width, "", 16, words::answered(session.history(), asked),
                        asked.answer || s.step > now ? dim : warning, Target::step(s.step));
        }
    }
    for (const StoryLine& l : story.lines) {
        const bool recorded = l.step != no_step;
        add_wrapped(lines, width, story_kind_name(l.kind), 14,
                    l.text + (recorded ? "  [step " + words::count(l.step) + "]" : std::string()), ink(l.step),
                    recorded ? Target::step(l.step) : Target{}, l.step == now);
    }
    if (const std::optional<std::string> why = why_no_otherwise(session)) {
        FoundLevers none;
        none.why_none = *why;
        none.tried = false;
        add_wrapped(lines, width, "otherwise", 14, levers_in_words(none).front());
    } else {
        const std::vector<std::string>* const otherwise = session.otherwise(id);
        if (!otherwise) {
            add_wrapped(lines, width, "otherwise", 14, "what would put it elsewhere is looked for …", dim);
        } else {
            for (const std::string& text : *otherwise) {
                add_wrapped(lines, width, "otherwise", 14, text);
            }
        }
    }
    const PlanState& state = session.state();
    for (const std::string& text : namesakes_in_words(session.history(), state, namesakes_of(session.history(), state, id))) {
        add_wrapped(lines, width, "same name", 14, text);
    }
    return lines;
}

std::vector<Line> tensors_page(InspectorSession& session, const std::vector<TensorId>& tensors) {
    std::vector<Line> lines;
    for (const TensorId id : tensors) {
        if (session.row_of(id) < 0) { // a running program has gone on to another graph
            continue;
        }
        Line l;
        l.parts.push_back({tensor_label(session, id)});
        if (is_index(id, session.state().tensors)) {
            const TensorState& state = session.state().tensors[id];
            l.parts.push_back({"  "});
            l.parts.push_back(backend_text(session, state.backend));
            l.parts.push_back({" " + cause_text(state.cause, state.source), dim});
        }
        l.target = Target::tensor(id);
        lines.push_back(std::move(l));
    }
    return lines;
}

std::vector<Line> marks_page(InspectorSession& session, const Trail& trail) {
    std::vector<Line> lines;
    for (const auto& [letter, place] : trail.marks) {
        Line l = labelled(
            std::string(1, letter), 3,
            joined({"step ", words::count(place.step), "  ",
                    place.tensor == no_tensor ? std::string() : session.history().tensor_name_at(place.step, place.tensor),
                    "  in ", entry_of(place.view).name}));
        l.target = Target::mark(letter);
        lines.push_back(std::move(l));
    }
    return lines;
}

std::vector<Line> breakpoints_page(const Breakpoints& breakpoints) {
    std::vector<Line> lines;
    for (int i = 0; i < breakpoints.size(); ++i) {
        const Breakpoint& b = breakpoints[i];
        const Style style = b.enabled ? Style{} : dim;
        Line l;
        l.parts = {{padded(std::to_string(i + 1), 3), bold},
                   {padded(b.enabled ? "enabled" : "disabled", 10), style},
                   {padded("met " + words::count(*b.n_met), 10), style},
                   {b.query.text(), style}};
        l.hang = 23;
        l.target = Target::breakpoint(i);
        lines.push_back(std::move(l));
    }
    return lines;
}

std::vector<Line> settings_page(const Settings& settings, const std::string& path) {
    std::vector<Line> lines;
    for (const std::string& text : settings.lines()) {
        const size_t space = text.find(' ');
        lines.push_back(labelled(text.substr(0, space), 18, text.substr(space + 1)));
    }
    lines.push_back({});
    lines.push_back(line(":set NAME VALUE changes one until you quit; for ever: a line NAME VALUE in", dim));
    lines.push_back(line(path.empty() ? "(no home directory is known)" : path, dim));
    lines.push_back(line("key KEY ACTION gives a key to an action: key Ctrl-N next-step", dim));
    return lines;
}

std::vector<TensorId> readers_of(InspectorSession& session, TensorId id) {
    std::vector<TensorId> readers;
    for (const TensorId user : session.users_of(id)) {
        add_once(readers, user);
    }
    for (const record::Rewired& rewired : session.state().rewires) {
        if (rewired.copy == id) {
            add_once(readers, rewired.node);
        }
    }
    return readers;
}

std::vector<TensorId> sources_of(InspectorSession& session, TensorId id) {
    std::vector<TensorId> sources;
    if (const record::CopyMade* const copy = session.copy(id)) {
        return {copy->of};
    }
    if (!session.graph() || !is_index(id, session.graph()->tensors)) {
        return sources;
    }
    const TensorInfo& info = session.graph()->tensors[id];
    for (size_t i = 0; i < info.src.size(); ++i) {
        add_once(sources, info.src[i]);
        for (const record::Rewired& rewired : session.state().rewires) {
            if (rewired.node == id && rewired.source == int_of(i)) {
                add_once(sources, rewired.copy);
            }
        }
    }
    if (info.is_view()) {
        add_once(sources, info.view_source);
    }
    return sources;
}

} // namespace schedscope::tui
