#pragma once

#include "traces/history/accounts/values.h"
#include "viz/tables/plan_table.h"

#include <optional>
#include <string>
#include <vector>

namespace schedscope::tables {

/// What watched tensors held.
class ValuesTable final : public PlanTable<ValuesTable, accounts::ValueRow> {
public:
    explicit ValuesTable(History& history);
    /// Of the state's evaluation up to its step; of the whole trace for an evaluation of −1.
    void update(const PlanState& state);
    static std::span<const Entry> entries();
    TensorId tensor(int row) const override { return rows_[row].id; }

private:
    EvaluationId of_ = -2;
    Step at_ = no_step;
};

/// A node on two backends, with what both held if it was watched; or (a difference of step −1) a tensor that was only watched.
struct ComparedRow {
    accounts::DifferenceRow difference;
    std::optional<accounts::ValueRow> reference, device; ///< values
    TensorId id = no_tensor;
    std::string name;
    EvaluationId eval = 0;

    bool is_difference() const noexcept { return difference.step != no_step; }
    bool compared() const noexcept { return is_difference() && difference.difference.compared; }
};

/// How far two backends are apart at each node.
class DifferencesTable final : public PlanTable<DifferencesTable, ComparedRow> {
public:
    enum class Shows : uint8_t { all, differences };
    explicit DifferencesTable(History& history, Shows shows = Shows::all);
    /// Of the state's evaluation up to its step; of the whole trace for an evaluation of −1.
    void update(const PlanState& state);
    static std::span<const Entry> entries();
    TensorId tensor(int row) const override { return rows_[row].id; }

    const accounts::DifferenceCount& count() const noexcept { return count_; } ///< in the whole trace
    bool is_first(const ComparedRow& row) const { return row.is_difference() && row.difference.step == count_.first_beyond; }
    /// "161 nodes compared, 2 beyond tolerance (the first: MUL_MAT kq-0 in evaluation 0), 3 skipped"
    std::string summary() const;

private:
    void add(const ValueState& value);
    void add(accounts::DifferenceRow difference);

    Shows shows_;
    accounts::DifferenceCount count_;
    Step counted_to_ = no_step; ///< the last step that `count_` knows of
};

} // namespace schedscope::tables
