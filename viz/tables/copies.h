#pragma once

#include "traces/history/accounts/copies.h"
#include "viz/tables/plan_table.h"

#include <map>
#include <vector>

namespace schedscope::tables {

/// How often copies were moved since their plan was made. Looks at each transfer of the trace once, those after the present step
/// not yet.
class TransferCount {
public:
    struct Sum {
        int64_t times = 0, bytes = 0;
        std::optional<int64_t> time_ns = 0; ///< nothing: not each was timed
    };
    /// Up to a step. Looks further where it must.
    void update(const RecordSource& source, Step step);
    /// Of a copy in the plan that the state's step runs; up to that step.
    Sum of(const PlanState& state, TensorId copy) const;

private:
    struct Moved {
        Step step;
        Sum until; ///< with all before it
    };
    Step counted_ = no_step;                                                ///< those up to here are counted
    std::map<std::pair<EvaluationId, TensorId>, std::vector<Moved>> moved_; ///< by plan and copy, in order of steps
};

/// Copies: what pass 5 made to hold a tensor on another backend, which split needs it, when it was moved in this evaluation and
/// how often in the recorded runs of its plan.
class CopiesTable final : public PlanTable<CopiesTable, accounts::CopyRow> {
public:
    explicit CopiesTable(History& history);
    void update(const PlanState& state);
    static std::span<const Entry> entries();
    TensorId tensor(int row) const override { return rows_[row].id; }
    std::string_view kind(int) const override { return "copy"; }

    TransferCount::Sum moved(TensorId copy) const { return count_.of(state(), copy); }
    TensorId reader_of(const accounts::CopyRow& copy) const; ///< the first node that needs it
    int64_t begin_ns() const noexcept { return begin_ns_; }  ///< of the evaluation

private:
    TransferCount count_;
    int64_t begin_ns_ = 0;
};

} // namespace schedscope::tables
