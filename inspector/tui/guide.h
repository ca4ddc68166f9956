#pragma once

#include "inspector/tui/input/keys.h"
#include "runtime/planner/records.h"

#include <string>
#include <vector>

namespace schedscope::tui {

class App;

/// The first minute: one question about the plan that is shown, answered in five steps. Each is done by doing what it says, and
/// the next one comes by itself; at its end stands the answer. Esc leaves it at any time.
class Guide {
public:
    /// Selects the tensor that it asks about. Where no tensor of the plan was placed because of another one, there is none.
    void begin(App& app);
    bool open() const noexcept { return step_ != Step::left; }
    void leave() noexcept { step_ = Step::left; }
    /// Before what a key does: where it is what was asked for, it is done to the tensor that the guide speaks of.
    void prepare(App& app, Action action) const;
    /// After each key: is what was asked for done?
    void look(App& app);
    /// What it says now, in so many columns and at most so many rows; empty: nothing.
    std::vector<std::string> lines(const App& app, int columns, int most_rows) const;

private:
    enum class Step : uint8_t { splits, back_to_it, cause, return_from_cause, story, answered, left };
    bool is_done(const App& app) const;
    Action asked_for() const;

    Step step_ = Step::left;
    TensorId tensor_ = no_tensor, cause_ = no_tensor;
    /// What it says of them, as the plan was when it began: at another step the tensor may be on no device yet.
    std::string name_, cause_name_, device_, rule_, meaning_;
};

} // namespace schedscope::tui
