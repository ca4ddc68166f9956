#include "inspector/tui/guide.h"

#include "inspector/tui/actions/jumps.h"
#include "inspector/tui/app.h"
#include "inspector/tui/terminal/text.h"
#include "runtime/numbers.h"
#include "runtime/system/joined.h"
#include "traces/history/words/unknown.h"

namespace schedscope::tui {

void Guide::begin(App& app) {
    const InspectorSession& session = app.session;
    const PlanState& state = session.state();
    for (TensorId id = 0; id < n_of(state.tensors); ++id) {
        const TensorState& now = state.tensors[id];
        const bool has_cause = session.row_of(id) >= 0 && !session.is_copy(id) && session.row_of(now.by) >= 0 && now.cause;
        // Of those that a device took over there is most to say.
        if (has_cause && (cause_ == no_tensor ? *now.cause == Cause::weight || *now.cause == Cause::offload
                                              : *now.cause == Cause::offload && state.tensors[tensor_].cause != Cause::offload)) {
            tensor_ = id;
            cause_ = now.by;
        }
    }
    if (tensor_ != no_tensor) {
        const TensorState& now = state.tensors[tensor_];
        name_ = session.name(tensor_);
        cause_name_ = session.name(cause_);
        device_ = session.backend_name(now.backend);
        rule_ = cause_text(now.cause, now.source);
        meaning_ = cause_meaning(*now.cause);
        app.session.select(tensor_);
        step_ = Step::splits;
    }
}

bool Guide::is_done(const App& app) const {
    const bool in_nodes = app.list.id() == ViewId::nodes;
    switch (step_) {
    case Step::splits: return app.list.id() == ViewId::splits;
    case Step::back_to_it: return in_nodes;
    case Step::cause: return app.session.selected() == cause_;
    case Step::return_from_cause: return app.session.selected() == tensor_;
    case Step::story: return !app.pages.empty() && app.pages.top().title == story_title(app.session, tensor_);
    default: return app.pages.empty(); // the answer was read
    }
}

Action Guide::asked_for() const {
    switch (step_) {
    case Step::splits: return action_of(ViewId::splits);
    case Step::back_to_it: return Action::open;
    case Step::cause: return Action::cause;
    case Step::return_from_cause: return Action::back;
    case Step::story: return Action::explain;
    default: return Action::help;
    }
}

void Guide::prepare(App& app, Action action) const {
    const bool is_about_it = step_ == Step::cause || step_ == Step::story;
    if (is_about_it && action == asked_for() && app.pages.empty() && app.session.selected() != tensor_) {
        app.session.select(tensor_);
    }
}

void Guide::look(App& app) {
    if (!open() || !is_done(app)) {
        return;
    }
    if (step_ == Step::back_to_it) { // the selection may have been moved meanwhile
        app.session.select(tensor_);
    }
    step_ = static_cast<Step>(ordinal(step_) + 1);
}

std::vector<std::string> Guide::lines(const App& app, int columns, int most_rows) const {
    if (!open()) {
        return {};
    }
    struct Words {
        std::string before, press;
    };
    const auto words = [&]() -> Words {
        switch (step_) {
        case Step::splits:
            return {"each line is an operation and the device that it got.",
                    "the splits, where the work goes from one device to another"};
        case Step::back_to_it:
            return {joined({"a split is what runs on one device at a time; ", name_, " is in the selected one."}),
                    "back to it among the operations"};
        case Step::cause: return {joined({name_, " runs on ", device_, ". Why there?"}), "to the tensor that made it so"};
        case Step::return_from_cause:
            return {joined({cause_name_, " did, by rule ", rule_, ": ", meaning_, "."}), "back to where you were"};
        case Step::story: return {"the right side says so in short.", joined({"the whole story of ", name_})};
        default:
            return {joined({"this is why: ", meaning_, " (rule ", rule_,
                            "); below it who was asked, and at the end what would change it. ", app.key_of(Action::next_pass),
                            " and ", app.key_of(Action::previous_pass), " walk through the passes;"}),
                    "all keys"};
        }
    }();
    const bool answered = step_ == Step::answered;
    const std::string number = answered ? "" : std::to_string(ordinal(step_) + 1) + "/5 ", key = app.key_of(asked_for());
    std::vector<std::string> whole = wrapped(joined({number, words.before, answered ? " " : " Press ", key,
                                                     answered ? " shows " : ": ", words.press, answered ? "" : " (Esc leaves)"}),
                                             columns);
    if (n_of(whole) > most_rows) {
        whole = {shortened(
            answered ? "this is why; " + key + " shows all keys" : joined({number, "press ", key, ": ", words.press}), columns)};
    }
    return whole;
}

} // namespace schedscope::tui
