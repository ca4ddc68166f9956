#include "inspector/cli/run/demo_report.h"

#include "inspector/cli/show/show.h"
#include "inspector/cli/show/story_text.h"
#include "runtime/numbers.h"
#include "traces/history/explain.h"

#include <ostream>

namespace schedscope {

namespace {

/// A node worth telling about: the first that a device took over although its weight lies on the host, else the first that a
/// weight placed.
TensorId interesting_tensor(const PlanState& state) {
    TensorId placed = no_tensor;
    for (size_t id = 0; id < state.tensors.size(); ++id) {
        const std::optional<Cause> cause = state.tensors[id].cause;
        if (cause == Cause::offload) {
            return int_of(id);
        }
        if (cause == Cause::weight && placed == no_tensor) {
            placed = int_of(id);
        }
    }
    return placed;
}

} // namespace

void print_demo_report(History& history, std::ostream& out) {
    show::summary_text(history, history.opening(), out, false);
    if (history.n_evaluations() == 0) {
        return;
    }
    out << "\nThe splits of evaluation 0, the prompt:\n\n";
    show::find_topic("splits")->print(history, history.plan(0), out, false);
    const TensorId tensor = interesting_tensor(history.plan(0));
    if (tensor != no_tensor) {
        out << "\nThe story of one tensor:\n\n";
        const Story story = explain(history, 0, tensor);
        print_story(history, history.plan(0), story, out);
    }
}

} // namespace schedscope
