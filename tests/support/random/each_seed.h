#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <string>

namespace schedscope::test {

/// Checks the seeds [first, end). `check(seed)` says what is wrong, empty: nothing; whatever is wrong is a failure with its seed,
/// the first ten are told.
template <typename Check> void expect_nothing_wrong(uint32_t first, uint32_t end, Check check) {
    int n_wrong = 0;
    for (uint32_t seed = first; seed < end; ++seed) {
        constexpr int enough = 10;
        if (const std::string complaint = check(seed); !complaint.empty() && ++n_wrong <= enough) {
            ADD_FAILURE() << "seed " << seed << ": " << complaint;
        }
    }
    EXPECT_EQ(n_wrong, 0);
}

} // namespace schedscope::test
