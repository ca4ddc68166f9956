// Why a what-if changes nothing, on the samples: each is planned again first, so that it is true that nothing changes.
#include "traces/replay/no_change.h"

#include "runtime/scheduler/optimised_order.h"
#include "tests/support/paths.h"
#include "tests/support/traces/sample_run.h"
#include "traces/store/live_store.h"
#include "traces/store/reading/reader.h"

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
        Case{"experts-offload", "offload-min-batch=1", "offload-min-batch=1: it was recorded with 1"},
        Case{"partial-offload", "offload-min-batch=2", "offload-min-batch=2: the same 18 nodes are taken over"},
        Case{"experts-offload", "ot=ffn_.*_exps=CPU", "ot=ffn_.*_exps=CPU: it was recorded with the same"},
        Case{"all-cpu", "ot=ffn=cpu",
             "ot=ffn=cpu: the weights that it places lie there already, or its device can't run what reads them"},
        Case{"all-cpu", "ts=1,2", "ts=1,2: there is no device but the CPU that layers could go to"},
        Case{"partial-offload", "ts=7", "ts=7: one device has all offloaded layers"},
        Case{"pipeline", "ts=1,1", "ts=1,1: each layer stays on the device where it was"},
        Case{"partial-offload", "nkvo=off", "nkvo=off: it was off when this was recorded"},
        Case{"all-cpu", "nkvo=on", "nkvo=on: the CPU has all layers, and their KV cache lies there in any case"},
        Case{"partial-offload", "device-order=Vulkan0", "device-order=Vulkan0: the order was Vulkan0, CPU already"},
        Case{"partial-offload", "device-order=cpu,vulkan0",
             "device-order=cpu,vulkan0: the order was Vulkan0, CPU, and CPU is last in any case"},
        Case{"partial-offload", "fusion=on", "fusion=on: it was on when this was recorded"},
        Case{"llava-1.6", "offload-min-batch=2",
             "offload-min-batch=2: only lookups of rows read weights from host memory, and those are never taken over"}));

TEST_P(NoChange, IsExplained) {
    const Case& c = GetParam();
    const auto source = std::make_shared<TraceReader>(paths::sample(c.sample));
    WhatIf what_if;
    what_if.set(c.setting);
    ReplayOptions options = options_for(what_if, *source);
    options.optimise = optimised_nodes;
    ASSERT_EQ(replay(*source, options).n_differences, 0);
    EXPECT_EQ(why_nothing_changed(what_if, source), std::vector<std::string>{c.why});
}

TEST(WhyNothingChanges, OfSeveralSettingsIsASentenceEach) {
    const auto source = std::make_shared<TraceReader>(paths::sample("partial-offload"));
    WhatIf what_if;
    EXPECT_TRUE(why_nothing_changed(what_if, source).empty());
    what_if.set("ngl=3");
    what_if.set("fa=on");
    EXPECT_EQ(why_nothing_changed(what_if, source).size(), 2U);
}

/// Why a setting changes nothing in the plan of one graph on Vulkan0 and the CPU.
std::string why_not(OwnedGraph graph, const char* setting, std::optional<PlanSettings> settings = {}) {
    const auto store = std::make_shared<LiveStore>();
    SessionInfo session = test::session({"Vulkan0", "CPU"});
    session.settings = std::move(settings);
    test::SampleRun(*store, session).evaluate(std::move(graph));
    WhatIf what_if;
    what_if.set(setting);
    return why_nothing_changed(what_if, store).at(0);
}

TEST(WhyNothingChanges, CountsTheBatchesOfThoseThatReadHostWeightsAlone) {
    // The attention has rows for each head, 4 times as many as there are tokens: it reads no weights.
    EXPECT_EQ(why_not(test::blocks(4, 8, 2), "offload-min-batch=9"),
              "offload-min-batch=9: the largest batch of a node that reads weights from host memory is 8");
    EXPECT_EQ(why_not(test::blocks(4, 8, 2), "op-offload=off", PlanSettings{}),
              "op-offload=off: no device took a node over from the CPU: the largest batch of a node that reads weights from host "
              "memory is 8, 32 is the least that is worth it");
    EXPECT_EQ(why_not(test::blocks(4, 8, 2), "offload-min-batch=4"),
              "offload-min-batch=4: no device takes over a node that reads weights from host memory");
}

TEST(WhyNothingChanges, CountsOneAsOne) {
    OwnedGraph graph = test::blocks(1, 32, 2);
    for (TensorInfo& tensor : graph.tensors) {
        if (tensor.name == "output.weight") {
            tensor.buffer_type = 1; // in host memory
        }
    }
    EXPECT_EQ(why_not(std::move(graph), "offload-min-batch=2"), "offload-min-batch=2: the same 1 node is taken over");
    PlanSettings settings;
    settings.n_layers = 1;
    settings.placement.n_gpu_layers = 3;
    EXPECT_EQ(why_not(test::blocks(1, 8, 1), "ngl=9", settings), "ngl=9: 1 layer and the output were offloaded already");
    EXPECT_EQ(why_not(test::blocks(1, 8, 1), "ngl=all", settings), "ngl=all: 1 layer and the output were offloaded already");
}

} // namespace
} // namespace schedscope
