#include "traces/store/reading/split_rows.h"

#include "runtime/numbers.h"
#include "traces/format/kernel_times.h"
#include "traces/format/schema.h"
#include "traces/store/reading/trace_rows.h"

#include <algorithm>
#include <limits>
#include <string>

namespace schedscope {

namespace {

constexpr int64_t most_steps = std::numeric_limits<int64_t>::max() / 4; ///< with which can be computed
constexpr size_t most_kernels_held = 1U << 20U;

/// A column as a field of a record reads it.
template <typename Record, typename T> T take_member(const sqlite::Statement& row, int column, T Record::*member) {
    T value{};
    for_each_field<Record>([&](const auto& f) {
        if constexpr (std::is_same_v<decltype(f.member), T Record::*>) {
            value = f.member == member ? take_field(row, column, f) : value;
        }
    });
    return value;
}

} // namespace

/// Rows are in order of their last record, and so the first that is looked at is the first that may reach up to `first`.
void SplitRows::begin(Step first) {
    sqlite::ready(rows_, database_, [] {
        return "SELECT " + std::string(schema::split_run_columns) + " FROM split_run WHERE step >= ? ORDER BY step";
    });
    rows_.bind(0, first);
}

bool SplitRows::next(Row& row) {
    if (!rows_.step()) {
        rows_.reset();
        return false;
    }
    using record::Execute, record::SplitRun;
    const Step last = take(rows_, 0, 0, most_steps, "a record's step");
    try {
        row.part.evaluation = int_of(take(rows_, 1, 0, std::numeric_limits<EvaluationId>::max(), "evaluation"));
        row.part.time_ns = take_time_if_known(rows_, 2, "time_ns");
        SplitPart& p = row.part.part;
        p.split = take_member(rows_, 3, &SplitRun::split);
        p.backend = take_member(rows_, 4, &SplitRun::backend);
        p.last = take(rows_, 5, 0, 1, "complete") != 0;
        p.device_time = take_member(rows_, 6, &Execute::device_time);
        p.kernels =
            rows_.is_null(7) ? nullptr : list(int_of(take(rows_, 7, 1, std::numeric_limits<KernelListId>::max(), "kernels")));
        const int64_t n_listed = p.kernels != nullptr ? std::ssize(*p.kernels) : 0;
        p.first = int_of(take(rows_, 8, 0, n_listed, "first"));
        p.count = int_of(take(rows_, 9, 0, n_listed - p.first, "count"));
        p.start_ns = take_time_if_known(rows_, 10, "start_ns");
        p.end_ns = take_time_if_known(rows_, 11, "end_ns");
        if (p.start_ns.has_value() != p.end_ns.has_value()) {
            throw Damage("one of its ends has no time");
        }
        const bool has_times = !rows_.is_null(12);
        times_.clear();
        if (has_times && (!p.start_ns || !read_times(rows_.bytes(12), *p.start_ns, times_) || n_of(times_) != p.count)) {
            throw Damage("its times are none of " + std::to_string(p.count) + " kernels");
        }
        p.times = times_;
        row.untimed = has_times || p.kernels == nullptr ? 0 : int_of(rows_.integer(7));
        const bool whole = p.count == n_listed;
        if (row.part.n_records() == 0 || (row.untimed != 0 && !(whole && p.last))) {
            throw Damage("it holds no record");
        }
        row.part.step = last - row.part.n_records() + 1;
        if (row.part.step < 0) {
            throw Damage("it holds more records than there are up to it");
        }
    } catch (const Damage& damage) {
        throw Damage("record " + std::to_string(last) + " (split_run): " + damage.what());
    }
    return true;
}

std::shared_ptr<const KernelList> SplitRows::list(KernelListId id) {
    if (const auto known = lists_.find(id); known != lists_.end()) {
        return known->second;
    }
    sqlite::ready(kernels_, database_, [] {
        return "SELECT " + std::string(schema::kernel_columns) + " FROM kernel WHERE list = ? ORDER BY position";
    });
    kernels_.bind(0, int64_t{id});
    using record::Execute;
    auto list = std::make_shared<KernelList>();
    while (kernels_.step()) {
        take(kernels_, 1, std::ssize(*list), std::ssize(*list), "a kernel's position");
        list->push_back({take_member(kernels_, 2, &Execute::first), take_member(kernels_, 3, &Execute::last),
                         take_member(kernels_, 4, &Execute::count), take_member(kernels_, 5, &Execute::kernel),
                         take_member(kernels_, 6, &Execute::bytes), take_member(kernels_, 7, &Execute::flops)});
    }
    kernels_.reset();
    if (list->empty()) {
        throw Damage("there is no list " + std::to_string(id) + " of kernels");
    }
    if (n_kernels_ + list->size() > most_kernels_held) {
        lists_.clear();
        n_kernels_ = 0;
    }
    n_kernels_ += list->size();
    return lists_.emplace(id, std::move(list)).first->second;
}

Step SplitRows::extreme(Step from, bool kernels, bool forward) {
    sqlite::Statement& row = sqlite::ready(extremes_[kernels ? 1 : 0][forward ? 1 : 0], database_, [&] {
        const std::string first = kernels ? "step - complete - count + 1" : "step", last = kernels ? "step - complete" : "step";
        const std::string select = "SELECT " + first + ", " + last + " FROM split_run WHERE " +
                                   (kernels ? "times IS NOT NULL" : "complete <> 0") + " AND ";
        // The row that `from` lies in may be the one that ends with the next row's key.
        return forward
                   ? select + "step > ?1 AND " + last + " > ?1 ORDER BY step LIMIT 1"
                   : select + "step <= coalesce((SELECT min(step) FROM split_run WHERE step >= ?1), 9223372036854775807) AND " +
                         first + " < ?1 ORDER BY step DESC LIMIT 1";
    });
    row.bind(0, from);
    Step found = no_step;
    if (row.step()) {
        const Step first = take(row, 0, 0, most_steps, "a record's step"),
                   last = take(row, 1, first, most_steps, "a record's step");
        found = forward ? std::max(first, from + 1) : std::min(last, from - 1);
    }
    row.reset();
    return found;
}

int64_t SplitRows::count(bool kernels) {
    sqlite::Statement sum(database_, kernels ? "SELECT sum(count) FROM split_run WHERE times IS NOT NULL"
                                             : "SELECT count(step) FROM split_run WHERE complete <> 0");
    return sum.step() ? sum.as_integer(0).value_or(0) : 0;
}

} // namespace schedscope
