#pragma once

#include "traces/history/accounts/time.h"
#include "viz/tables/plan_table.h"

namespace schedscope::tables {

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
