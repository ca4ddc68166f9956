#include "inspector/tui/story.h"

#include "inspector/tui/text.h"
#include "traces/explain.h"

#include <algorithm>

namespace schedscope::tui {
namespace {

Pass pass_of(std::string_view what) noexcept {
    if (what == "split" || what == "input" || what == "copy" || what == "rewire")
        return Pass::split;
    if (what == "order" || what == "fusion")
        return Pass::optimise;
    if (what == "placement" || what == "reallocation")
        return Pass::allocate;
    return what == "execute" || what == "transfer" ? Pass::execute : Pass::none;
}

std::string source_names(Session& session, const TensorInfo& info) {
    for (size_t i = 0; i < info.src.size(); ++i)
        if (info.src[i] != no_tensor && session.graph()->tensors[static_cast<size_t>(info.src[i])].usage == BufferUsage::weights)
            return "source " + std::to_string(i) + " (" + session.name(info.src[i]) + ") is a weight";
    return "no source is a weight";
}

/// Pass 1 writes nothing when none of its rules fits. What the rules look at, from the graph.
std::string left_unassigned(Session& session, TensorId id) {
    const TensorInfo& info = session.graph()->tensors[static_cast<size_t>(id)];
    return std::string("left unassigned: ") + (info.buffer_type == no_buffer_type ? "no buffer of its own, " : "has a buffer, ") +
           ((info.flags & flag_input) != 0 ? "an input, " : "not an input, ") + source_names(session, info);
}

std::string answers_text(Session& session, const std::vector<Asked>& asked) {
    std::string text;
    for (const Asked& a : asked) {
        text += (text.empty() ? "asked " : ", ") + session.backend_name(a.backend);
        if (a.question == Question::buffer_type)
            text += " to use " + a.buffer_type;
        else if (a.question == Question::offload)
            text += " to take it over";
        text += a.answer ? ": yes" : ": no";
        if (!a.answer && !a.why.empty())
            text += " (" + a.why + ")";
    }
    return text;
}

std::string step_text(Session& session, const StoryStep& s) {
    std::string text;
    if (s.cause == Cause::none && s.before == s.after) {
        text = answers_text(session, s.asked);
        return text.empty() ? "unchanged" : text + "; unchanged";
    }
    text = session.backend_name(s.before) + " → " + session.backend_name(s.after);
    if (const std::string cause = cause_name(s.cause, s.source); !cause.empty())
        text += ", " + cause;
    if (!s.by.empty())
        text += " from " + s.by;
    const std::string asked = answers_text(session, s.asked);
    return asked.empty() ? text : text + "; " + asked;
}

} // namespace

std::vector<StoryPart> story(Session& session, TensorId id, int& n_ahead) {
    std::vector<StoryPart> parts;
    n_ahead = 0;
    const PlanState& state = session.state();
    if (!session.graph() || session.row_of(id) < 0)
        return parts;
    const Story whole = explain(session.history(), state.evaluation, id);
    bool placed = session.is_copy(id);
    for (const StoryStep& s : whole.steps) {
        placed = placed || s.pass == Pass::place || s.pass == Pass::none;
        if (s.step > session.step())
            ++n_ahead;
        else
            parts.push_back({s.step, s.pass, step_text(session, s)});
    }
    for (const StoryLine& l : whole.lines) {
        if (l.step > session.step())
            ++n_ahead;
        else
            parts.push_back({l.step, pass_of(l.what), l.text});
    }
    if (!placed && (state.pass > Pass::place || state.planned))
        parts.push_back({no_step, Pass::place, left_unassigned(session, id)});
    std::stable_sort(parts.begin(), parts.end(), [](const StoryPart& a, const StoryPart& b) { return a.step < b.step; });
    return parts;
}

} // namespace schedscope::tui
