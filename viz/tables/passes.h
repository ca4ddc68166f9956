#pragma once

#include "traces/history/accounts/passes.h"
#include "viz/tables/plan_table.h"

namespace schedscope::tables {

/// The passes of a plan, in the order they ran: what each assigned and how long it took.
class PassesTable final : public PlanTable<PassesTable, accounts::PassRow> {
public:
    explicit PassesTable(History& history);
    void update(const PlanState& state);
    static std::span<const Entry> entries();
};

} // namespace schedscope::tables
