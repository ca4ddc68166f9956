#pragma once

#include "runtime/planner/records.h"
#include "tests/support/random/plan_checks.h"

#include <span>
#include <string>
#include <vector>

namespace schedscope::test {

/// The assignments after a pass, and how many records there were by then.
struct Snapshot {
    Pass pass = Pass::none;
    size_t n_records = 0;
    std::vector<Assignment> assignments;
};

/// Do the records of one plan tell the plan? Assignments folded up to each pass are those of the pass, splits, copies, rewirings
/// and places are the plan's, and every question has the answer that the backends give. What is wrong; empty: nothing.
std::string check_records(const PlanView& view, std::span<const Snapshot> passes, std::span<const Record> records);

} // namespace schedscope::test
