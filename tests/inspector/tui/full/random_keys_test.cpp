// Fifty thousand keys, with those of tests/inspector/tui: the same ones in each run.
#include "tests/inspector/tui/harness/random_keys.h"
#include "tests/support/paths.h"

#include <gtest/gtest.h>

namespace schedscope {
namespace {

class RandomKeys : public ::testing::TestWithParam<const char*> {};

TEST_P(RandomKeys, NeverBreakTheInspector) {
    const std::string sample = paths::source("traces/samples/") + GetParam();
    for (uint32_t seed = 2; seed < 4; ++seed)
        test::press_random_keys(sample, seed, 6000);
}

INSTANTIATE_TEST_SUITE_P(Over, RandomKeys,
                         ::testing::Values("partial-offload.trace", "experts-offload.trace", "pipeline.trace",
                                           "mixed-sampling.trace"));

} // namespace
} // namespace schedscope
