// Why a what-if changes nothing, on the samples: each is planned again first, so that it is true that nothing changes.
#include "traces/no_change.h"

#include "runtime/scheduler/optimised_order.h"
#include "traces/reader.h"

#include <gtest/gtest.h>

namespace schedscope {
namespace {

struct Case {
    const char *sample, *setting, *why;
};
void PrintTo(const Case& c, std::ostream* out) { *out << c.sample << ' ' << c.setting; }

class NoChange : public ::testing::TestWithParam<Case> {};
INSTANTIATE_TEST_SUITE_P(
    On, NoChange,
    ::testing::Values(
        Case{"partial-offload", "ngl=3", "ngl=3: it was recorded with 3"},
        Case{"mixed-sampling", "ngl=50", "ngl=50: all 4 layers and the output were offloaded already"},
        Case{"all-cpu", "ngl=5", "ngl=5: there is no device but the CPU that layers could go to"},
        Case{"partial-offload", "refuse=vulkan0:CONV_2D", "refuse=vulkan0:CONV_2D: no graph has a node of this operator"},
        Case{"partial-offload", "fa=on", "fa=on: it was on when this was recorded"},
        Case{"pipeline", "stages=4", "stages=4: it was recorded with as many"},
        Case{"all-cpu", "op-offload=off", "op-offload=off: there is no device but the CPU that could take work over"},
        Case{"partial-offload", "op-offload=on", "op-offload=on: it was on when this was recorded"},
        Case{"experts-offload", "offload-min-batch=1", "offload-min-batch=1: it was recorded with 1"}));

TEST_P(NoChange, IsExplained) {
    const Case& c = GetParam();
    const auto source =
        std::make_shared<TraceReader>(std::string(SCHEDSCOPE_SOURCE_DIR "/traces/samples/") + c.sample + ".trace");
    WhatIf what_if;
    what_if.set(c.setting);
    ReplayOptions options = options_for(what_if, *source);
    options.optimise = optimised_nodes;
    ASSERT_EQ(replay(*source, options).n_differences, 0);
    EXPECT_EQ(why_nothing_changed(what_if, source), std::vector<std::string>{c.why});
}

TEST(WhyNothingChanges, OfSeveralSettingsIsASentenceEach) {
    const auto source = std::make_shared<TraceReader>(SCHEDSCOPE_SOURCE_DIR "/traces/samples/partial-offload.trace");
    WhatIf what_if;
    EXPECT_TRUE(why_nothing_changed(what_if, source).empty());
    what_if.set("ngl=3");
    what_if.set("fa=on");
    EXPECT_EQ(why_nothing_changed(what_if, source).size(), 2U);
}

} // namespace
} // namespace schedscope
