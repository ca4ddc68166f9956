#pragma once

#include "inspector/tui/state/inspector_session.h"
#include "inspector/tui/terminal/text.h"
#include "inspector/tui/views/view.h"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace schedscope::tui {

/// The two faces of the values view: what watched tensors held, and where two backends were compared, how far apart they are at
/// each node.
std::unique_ptr<View> make_watched_values(InspectorSession& session);
std::unique_ptr<View> make_compared_values(InspectorSession& session);

/// What records of one kind said of a tensor in the evaluations before that ran the same plan: a few, for the eye. `say(fact)`:
/// an optional Text, nothing for a record that is left out.
template <typename T, typename F>
void add_evaluations_before(InspectorSession& session, std::vector<Line>& lines, TensorId id, int width, F&& say) {
    constexpr int most = 8;
    const EvaluationId here = session.state().evaluation, planned = session.state().planned_in;
    int n = 0;
    for (EvaluationId e = here - 1; e >= planned && n < most; --e) {
        if (session.history().evaluation(e).begin.planned_in != planned) {
            continue;
        }
        const EvaluationSpan span = session.history().evaluation(e);
        session.history().source().for_each_of(fact_bit<T>(), span.first, span.end, [&](const Record& record) {
            const T& fact = std::get<T>(record.fact);
            const std::optional<Text> said = fact.tensor == id ? say(fact) : std::nullopt;
            if (said) {
                if (n++ == 0) {
                    add_heading(lines, "in the evaluations before");
                }
                add_wrapped(lines, width, "eval " + std::to_string(e), 9, said->text, said->style, Target::step(record.step));
            }
        });
    }
}

} // namespace schedscope::tui
