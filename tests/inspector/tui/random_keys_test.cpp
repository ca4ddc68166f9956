// A part of tests/inspector/tui/full, for every run.
#include "tests/inspector/tui/harness/random_keys.h"
#include "tests/support/paths.h"

#include <gtest/gtest.h>

namespace schedscope {
namespace {

TEST(RandomKeys, NeverBreakTheInspector) { test::press_random_keys(paths::sample("partial-offload"), 1, 4000); }

} // namespace
} // namespace schedscope
