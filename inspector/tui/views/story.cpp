#include "inspector/tui/views/story.h"

#include "traces/history/explain.h"
#include "traces/history/words/story_words.h"

#include <algorithm>

namespace schedscope::tui {
std::vector<StoryPart> story(InspectorSession& session, TensorId id, int& n_ahead) {
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
            StoryPart& part = parts.emplace_back();
            part.step = s.step;
            part.pass = s.pass;
            part.text = words::decided(session.history(), state, s);
            for (const Asked& asked : s.asked) {
                part.asked.push_back(words::answered(session.history(), asked));
            }
        }
    }
    for (const StoryLine& l : whole.lines) {
        if (l.step > session.step()) {
            ++n_ahead;
        } else {
            parts.push_back({l.step, pass_of(l.kind), l.text});
        }
    }
    std::stable_sort(parts.begin(), parts.end(), [](const StoryPart& a, const StoryPart& b) { return a.step < b.step; });
    return parts;
}

} // namespace schedscope::tui
