#pragma once

#include "traces/history/history.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// Where the time of an evaluation went: one account, from which every face takes its figures.
namespace schedscope::accounts {

/// What a device does at a moment: the first of these that records say of it then. So nothing that overlaps counts twice, and the
/// times of a device sum to the time of the evaluation.
enum class Activity : uint8_t {
    computing, ///< a kernel runs on it, or a split whose kernels have no times
    copying,   ///< something is copied to it
    /// It does neither while the runtime waits: for another device, for shaders to compile, for the trace writer, for a user who
    /// holds it.
    waiting,
    idle, ///< nothing of all that, or it is what the runtime waits for
};
inline constexpr size_t n_activities = 4;
std::string_view activity_name(Activity activity) noexcept; ///< "computing"

/// What computing is told apart by.
enum class TimeBy : uint8_t { role, layer, op, split, device, kernel };
std::string_view time_by_name(TimeBy by) noexcept;
std::optional<TimeBy> time_by_from_name(std::string_view name) noexcept;

/// From where the evaluation began to where it ended (or the state's step, while it runs), on the trace's clock.
struct TimeExtent {
    int64_t begin_ns = 0, end_ns = 0;
    int64_t time_ns() const noexcept { return end_ns - begin_ns; }
    double percent(int64_t ns) const noexcept;
};
/// The record that an evaluation ends with, whose records are [first, end): tokens are chosen and noted behind it. While it runs,
/// and where the recording stopped in it: the last.
Step last_step(const RecordSource& source, Step first, Step end);
TimeExtent time_extent(const History& history, const PlanState& state);
/// The same of a whole evaluation, without its state. 0 to 0: no record of it has a time.
TimeExtent time_extent(const RecordSource& source, const EvaluationSpan& span);

/// Splits that ran of which no kernel has a time: what ran in them is known as a whole, if at all.
std::vector<const SplitState*> splits_as_a_whole(const PlanState& state);
/// Where those were that ran without a time, and what times them: "splits on Vulkan0 were not timed: record with --sync, which
/// times them"; empty: there are none.
std::string untimed_splits(const History& history, const PlanState& state);

struct DeviceTime {
    BackendId backend = no_backend;
    int64_t ns[n_activities] = {}; ///< of each activity
    bool untimed = false;          ///< something ran on it that has no time: it is within what is called idle
    int64_t longest_gap_ns = 0;    ///< in which it did nothing, and waited for nothing: of its idle time
    int64_t gap_start_ns = 0;

    int64_t of(Activity activity) const noexcept { return ns[ordinal(activity)]; }
    int64_t busy() const noexcept { return of(Activity::computing) + of(Activity::copying); }
};

/// A part of a device's time.
struct TimeRow {
    BackendId backend = no_backend;
    Activity activity = Activity::idle;
    std::string what; ///< "mul_mat_f32", "for Vulkan0", "planning", "while it is waited for"; empty: there is no more to say
    std::optional<int64_t> n;      ///< how many kernels, splits, copies or waits it is made of; nothing: of none
    std::optional<int64_t> ns = 0; ///< nothing: it ran and was not timed
};

struct TimeAccount {
    TimeExtent extent;
    std::vector<DeviceTime> devices; ///< [backends]
    std::vector<TimeRow> rows;       ///< by device, then the longest first; what was not timed comes last
    bool anything = false;           ///< something that ran has a time
};

/// The rows of a device sum to the extent, whatever they are told apart by. What was timed together is never divided: a fused
/// kernel counts as "RMS_NORM + MUL", splits whose kernels have no times as "whole splits".
TimeAccount time(const History& history, const PlanState& state, TimeBy by);

} // namespace schedscope::accounts
