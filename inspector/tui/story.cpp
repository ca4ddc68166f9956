#include "inspector/tui/story.h"

#include "inspector/tui/text.h"
#include "traces/explain.h"

#include <algorithm>

namespace schedscope::tui {
namespace {

Pass pass_of(std::string_view what) noexcept {
    if (what == "split" || what == "input" || what == "copy" || what == "rewire") {
        return Pass::split;
    }
    if (what == "order" || what == "fusion") {
        return Pass::optimise;
    }
    if (what == "placement" || what == "reallocation") {
        return Pass::allocate;
    }
    return what == "execute" || what == "transfer" || what == "value" ? Pass::execute : Pass::none;
}

std::string step_text(Session& session, const StoryStep& s) {
    std::string text;
    if (s.cause == Cause::none && s.before == s.after) {
        if (!s.note.empty()) {
            return "left unassigned: " + s.note;
        }
        text = answers_text(session.history(), s.asked);
        return text.empty() ? "unchanged" : text + "; unchanged";
    }
    text = session.backend_name(s.before) + " → " + session.backend_name(s.after);
    if (const std::string cause = cause_name(s.cause, s.source); !cause.empty()) {
        text += ", " + cause;
    }
    if (!s.by.empty()) {
        text += " from " + s.by;
    }
    const std::string asked = answers_text(session.history(), s.asked);
    return asked.empty() ? text : text + "; " + asked;
}

} // namespace

std::vector<StoryPart> story(Session& session, TensorId id, int& n_ahead) {
    std::vector<StoryPart> parts;
    n_ahead = 0;
    const PlanState& state = session.state();
    if (!session.graph() || session.row_of(id) < 0) {
        return parts;
    }
    const Story whole = explain(session.history(), state.evaluation, id);
    for (const StoryStep& s : whole.steps) {
        if (s.step > session.step()) {
            ++n_ahead;
        } else {
            parts.push_back({s.step, s.pass, step_text(session, s)});
        }
    }
    for (const StoryLine& l : whole.lines) {
        if (l.step > session.step()) {
            ++n_ahead;
        } else {
            parts.push_back({l.step, pass_of(l.what), l.text});
        }
    }
    std::stable_sort(parts.begin(), parts.end(), [](const StoryPart& a, const StoryPart& b) { return a.step < b.step; });
    return parts;
}

} // namespace schedscope::tui
