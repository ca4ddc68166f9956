#pragma once

#include "traces/history/accounts/time.h"
#include "viz/tables/plan_table.h"

#include <optional>
#include <vector>

namespace schedscope::tables {

/// One piece of work on the timeline of an evaluation.
struct TimelineItem {
    enum class Kind : uint8_t { kernel, transfer, wait };
    Kind kind = Kind::kernel;
    BackendId backend = no_backend; ///< that does it; of a transfer, the one it goes to
    TensorId tensor = no_tensor;    ///< whose data was written
    StringId kernel = 0;
    int32_t split = -1;
    int count = 1;     ///< nodes that ran in it
    int n_shaders = 0; ///< that were compiled in a wait
    bool device_time = false;
    std::optional<int64_t> bytes = {}, flops = {}; ///< nothing: not known, or it is no work
    int64_t start = 0, end = 0;                    ///< ns
    bool timed = true;                             ///< else start and end are not known
    bool moment = false;                           ///< only the start is known: a copy that the backend made by itself
    bool held = false;                             ///< a wait: a user held the run

    /// ns; nothing: not timed.
    std::optional<int64_t> took() const noexcept { return timed && !moment ? std::optional(end - start) : std::nullopt; }

    /// A split whose kernels have no times of their own.
    bool is_split() const noexcept { return kind == Kind::kernel && tensor == no_tensor; }
};

/// Kernels, transfers and waits of the evaluation in order of time.
class TimelineTable final : public PlanTable<TimelineTable, TimelineItem> {
public:
    /// kernels: those that were not timed, too; timeline: what has a time; all: both.
    enum class Shows : uint8_t { timeline, kernels, all };
    explicit TimelineTable(History& history, Shows shows = Shows::timeline);
    void update(const PlanState& state);
    static std::span<const Entry> entries();
    TensorId tensor(int row) const override { return rows_[row].tensor; }
    std::string_view kind(int row) const override;

    std::string what(const TimelineItem& item) const; ///< "mul_mat_f32", "copy", "wait", "compiling 2 shaders"
    const accounts::TimeExtent& extent() const noexcept { return extent_; } ///< of the evaluation, all of which shares are of

private:
    void say_only_splits_are_timed(const std::string& untimed);

    Shows shows_;
    accounts::TimeExtent extent_;
};

/// Where the time of the state's evaluation went: for each device rows that sum to it.
class TimeTable final : public PlanTable<TimeTable, accounts::TimeRow> {
public:
    /// `key`: of its list; a report has two of them.
    TimeTable(History& history, accounts::TimeBy by, std::string_view key = "time") : PlanTable(key, history), by_(by) {}
    void update(const PlanState& state);
    static std::span<const Entry> entries();

    const accounts::TimeAccount& account() const noexcept { return account_; }
    std::string summary() const; ///< "each device's rows sum to 2.59 s, the time of evaluation 0"

private:
    accounts::TimeBy by_;
    accounts::TimeAccount account_;
};

} // namespace schedscope::tables
