#pragma once

#include <cstdint>
#include <string>

namespace schedscope::test {

/// What became of one sequence of random graphs that were planned for a random machine.
struct PlanOutcome {
    std::string complaint; ///< empty: all invariants hold
    int n_plans = 0, n_refused = 0, n_splits = 0, n_copies = 0, n_reused = 0, n_staged = 0;
};

/// Some graphs one after the other through one planner, with all checks of plan_checks.h, records_check.h and lifetime_check.h.
/// The same seed does the same.
PlanOutcome plan_randomly(uint32_t seed);

} // namespace schedscope::test
