#pragma once

#include "tests/support/random/each_seed.h"
#include "tests/support/random/random_run.h"

#include <gtest/gtest.h>

namespace schedscope::test {

/// Runs the sequences of these seeds; each that is wrong is a failure with its seed. Most graphs must run, and all kinds of run
/// must occur.
inline void check_runs(uint32_t first, uint32_t end) {
    RunOutcome all;
    expect_nothing_wrong(first, end, [&](uint32_t seed) {
        const RunOutcome outcome = run_randomly(seed);
        all.n_computed += outcome.n_computed;
        all.n_refused += outcome.n_refused;
        all.n_overlapping += outcome.n_overlapping;
        all.n_copies += outcome.n_copies;
        return outcome.complaint;
    });
    const auto n = static_cast<int>(end - first);
    EXPECT_GT(all.n_computed, 3 * n);
    EXPECT_LT(all.n_refused, all.n_computed / 3);
    EXPECT_GT(all.n_overlapping, n / 3);
    EXPECT_GT(all.n_copies, 10 * n);
}

} // namespace schedscope::test
