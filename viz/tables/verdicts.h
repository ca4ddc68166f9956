#pragma once

#include "traces/history/words/verdict_words.h"
#include "viz/tables/plan_table.h"

namespace schedscope::tables {

/// How well another program's plans could be made again: those of the whole trace.
class VerdictsTable final : public PlanTable<VerdictsTable, VerdictRow> {
public:
    explicit VerdictsTable(History& history);
    static std::span<const Entry> entries();
    std::string_view kind(int /*row*/) const override { return "verdict"; }
};

} // namespace schedscope::tables
