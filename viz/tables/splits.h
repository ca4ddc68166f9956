#pragma once

#include "traces/history/accounts/copies.h"
#include "traces/history/accounts/time.h"
#include "viz/tables/plan_table.h"

#include <optional>

namespace schedscope::tables {

/// Of one split: what is copied into it.
class InputsTable final : public PlanTable<InputsTable, record::SplitInput> {
public:
    InputsTable(History& history, const PlanState& state, const SplitState& split);
    static std::span<const Entry> entries();
    TensorId tensor(int row) const override { return rows_[row].tensor; }
    const accounts::RecordedSizes& sizes() const noexcept { return sizes_; }

private:
    accounts::RecordedSizes sizes_;
};

/// Splits: where each begins and why, what is copied into it and how long it took.
class SplitsTable final : public PlanTable<SplitsTable, int32_t> {
public:
    explicit SplitsTable(History& history);
    void update(const PlanState& state);
    static std::span<const Entry> entries();
    std::string_view kind(int) const override { return "split"; }
    TensorId first_tensor(int row) const override { return at(row).node(); }

    const SplitState& at(int32_t split) const { return state().splits[split]; }
    const accounts::RecordedSizes& sizes() const { return *sizes_; }
    const accounts::TimeExtent& extent() const noexcept { return extent_; } ///< of the evaluation, all of which shares are of
    /// "a split's time is from when its inputs have been copied to its end…; shares are of 2.59 s, the time of evaluation 0";
    /// empty: none has a time.
    std::string summary() const;

private:
    std::optional<accounts::RecordedSizes> sizes_; ///< of the state; nothing: there is none, and no row
    accounts::TimeExtent extent_;
};

} // namespace schedscope::tables
