#pragma once

#include "viz/tables/plan_table.h"

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
    int count = 1; ///< nodes that ran in it
    bool device_time = false;
    std::optional<int64_t> bytes, flops; ///< nothing: not known, or it is no work
    int64_t start = 0, end = 0;          ///< ns
    bool timed = true;                   ///< else start and end are not known

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

    std::string what(const TimelineItem& item) const; ///< "mul_mat_f32", "copy", "wait"
    int64_t begin() const noexcept { return begin_; } ///< ns: of the first item
    int64_t end() const noexcept { return end_; }     ///< of the last one

private:
    Shows shows_;
    int64_t begin_ = 0, end_ = 1;
};

} // namespace schedscope::tables
