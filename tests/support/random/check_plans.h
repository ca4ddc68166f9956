#pragma once

#include "tests/support/random/each_seed.h"
#include "tests/support/random/random_plan.h"

#include <gtest/gtest.h>

namespace schedscope::test {

/// Plans the sequences of these seeds; each that breaks an invariant is a failure with its seed. Most graphs must be planned, and
/// all kinds of plan occur.
inline void check_plans(uint32_t first, uint32_t end) {
    PlanOutcome all;
    expect_nothing_wrong(first, end, [&](uint32_t seed) {
        const PlanOutcome outcome = plan_randomly(seed);
        all.n_plans += outcome.n_plans;
        all.n_refused += outcome.n_refused;
        all.n_splits += outcome.n_splits;
        all.n_copies += outcome.n_copies;
        all.n_reused += outcome.n_reused;
        all.n_staged += outcome.n_staged;
        return outcome.complaint;
    });
    EXPECT_LT(all.n_refused, all.n_plans / 3);
    EXPECT_GT(all.n_splits, 5 * all.n_plans);
    EXPECT_GT(all.n_copies, 10 * all.n_plans);
    EXPECT_GT(all.n_reused, all.n_plans / 20);
    EXPECT_GT(all.n_staged, all.n_plans / 5);
}

} // namespace schedscope::test
