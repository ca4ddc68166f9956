#pragma once

#include "traces/history/history.h"

#include <optional>
#include <string>
#include <vector>

/// What "pass 2a" means wherever it is shown: the state at its end, and what it did itself.
namespace schedscope::accounts {

struct PassRow {
    Pass pass = Pass::none;
    int32_t assigned = 0, unassigned = 0; ///< leafs and nodes of the graph with and without a backend after it
    int32_t changed = 0;                  ///< tensors that it assigned, and copies that it made
    int32_t copies = 0;                   ///< of these, copies
    std::optional<int64_t> time_ns;       ///< nothing while it is not over, and of another program's plan, which was made again
    Step end = no_step;                   ///< its last record; no_step while it is not over
};
/// The evaluation's passes, in the order they ran.
std::vector<PassRow> passes(History& history, EvaluationId planned);

/// The step at which a pass is over, for an evaluation: among its own records (those of its last plan, if it made any), else in
/// the evaluation whose plan it runs: one that runs a plan again has passes 1 to 5 there, but executes by itself. no_step:
/// recorded in neither.
Step end_of_pass(History& history, EvaluationId evaluation, Pass pass);

/// Tensors that changed, each with the backend that it had before.
class ChangedTensors {
public:
    void add(TensorId id, BackendId before); ///< which is kept where it was added already
    void clear() noexcept;
    const std::vector<TensorId>& ids() const noexcept { return ids_; } ///< in the order that they were added in
    bool contains(TensorId id) const noexcept { return is_index(id, before_) && before_[id].has_value(); }
    bool operator==(const ChangedTensors&) const = default;
    std::optional<BackendId> before(TensorId id) const noexcept { return contains(id) ? before_[id] : std::nullopt; }

private:
    std::vector<TensorId> ids_;
    std::vector<std::optional<BackendId>> before_; ///< [tensors] up to the last that changed
};

/// What the pass did that is over at a step.
struct PassWork {
    Pass pass = Pass::none; ///< none: no pass is over there
    bool whole = false;     ///< all of pass 2, of which `pass` is the last sweep
    Step first = no_step;   ///< where it begins
    ChangedTensors changed; ///< that it assigned, and copies that it made

    /// In words, at the end of it: "12 tensors assigned, 2 tensors moved to another backend".
    std::string told(const History& history, const PlanState& state) const;
};
/// unit pass: where pass 2 is over, of its four sweeps together.
PassWork work_of_pass(History& history, Step end, History::Unit unit = History::Unit::sweep);

} // namespace schedscope::accounts
