// What a trace answers to "what if" is what a run with that setting decides: every decision of every plan, sizes of memory
// included.
#include "tests/traces/replay/what_if/planned_run.h"

#include "runtime/error.h"
#include "runtime/model/synth/synth.h"
#include "runtime/scheduler/optimised_order.h"

#include <gmock/gmock.h>

namespace schedscope {
namespace {

using namespace test;

const std::vector<std::string> run_models{"tiny", "tiny-moe", "tied", "storyteller-f32", "storyteller-q8_0"};
const std::vector<std::string> run_devices{"cpu", "blas,cpu", "vulkan0,cpu", "vulkan0,vulkan0,cpu", "vulkan0,blas,cpu"};

class EqualsRun : public OnDevices {};
INSTANTIATE_TEST_SUITE_P(WhatIf, EqualsRun, ::testing::ValuesIn(each_on_each(run_models, run_devices)), name_of);

TEST_P(EqualsRun, OfLayersOffloaded) {
    for (const int n_prompt : {8, 40}) {
        for (const auto& [from, to] : {std::pair{99, 2}, {99, 0}, {0, 99}, {2, 4}, {3, 1}}) {
            SCOPED_TRACE(std::to_string(from) + " to " + std::to_string(to) + ", " + std::to_string(n_prompt) + " tokens");
            expect_equal(planned(from, n_prompt), {"ngl=" + std::to_string(to)}, planned(to, n_prompt));
        }
    }
}

TEST_P(EqualsRun, OfOtherDevices) {
    std::vector<std::string> orders = {"cpu"};
    if (GetParam().devices.starts_with("vulkan0")) {
        orders.emplace_back("vulkan0,cpu");
    }
    for (const std::string& order : orders) {
        for (const int ngl : {99, 2}) {
            SCOPED_TRACE(order + ", " + std::to_string(ngl));
            Planned after = planned(ngl, 40);
            after.devices = order;
            expect_equal(planned(ngl, 40), {"device-order=" + order}, after);
        }
    }
    if (GetParam().devices == "vulkan0,blas,cpu") {
        Planned after = planned(2, 40);
        after.devices = "blas,vulkan0,cpu";
        expect_equal(planned(2, 40), {"device-order=blas,vulkan0"}, after);
    }
}

/// What is watched lies inside no group, whatever else is changed.
TEST_P(EqualsRun, OfWatchedNodes) {
    Planned before = planned(2, 40), after = planned(99, 40);
    before.runs = after.runs = true;
    before.watched = after.watched = "norm-";
    expect_equal(before, {"ngl=99"}, after);
    before.flash = FlashAttention::on;
    after = before;
    after.flash = FlashAttention::off;
    expect_equal(before, {"fa=off"}, after);
}

TEST_P(EqualsRun, OfFlashAttention) {
    for (const auto& [from, to] :
         {std::pair{FlashAttention::on, FlashAttention::off}, {FlashAttention::off, FlashAttention::on}}) {
        for (const int ngl : {99, 2}) {
            Planned before = planned(ngl, 40), after = before;
            before.flash = from;
            after.flash = to;
            const std::string setting = to == FlashAttention::on ? "fa=on" : "fa=off";
            SCOPED_TRACE(setting + ", " + std::to_string(ngl));
            expect_equal(before, {setting}, after);
            after.n_gpu_layers = 3;
            expect_equal(before, {setting, "ngl=3"}, after);
        }
    }
}

TEST_P(EqualsRun, OfChainsInTheGraph) {
    Planned before = planned(99, 8), after = planned(2, 8);
    before.sample_in_graph = after.sample_in_graph = true;
    expect_equal(before, {"ngl=2"}, after);
    after.n_gpu_layers = 0;
    expect_equal(before, {"ngl=0"}, after);
    before.flash = FlashAttention::on;
    after = before;
    after.flash = FlashAttention::off;
    expect_equal(before, {"fa=off"}, after);
}

TEST_P(EqualsRun, OfStages) {
    for (const int n : {1, 4}) {
        Planned before = planned(3, 120), after = before;
        before.stages = 5 - n;
        after.stages = n;
        SCOPED_TRACE(n);
        expect_equal(before, {"stages=" + std::to_string(n)}, after);
    }
}

TEST_P(EqualsRun, OfOffload) {
    for (const bool on : {true, false}) {
        Planned before = planned(1, 40), after = before;
        before.op_offload = !on;
        after.op_offload = on;
        expect_equal(before, {on ? "op-offload=on" : "op-offload=off"}, after);
    }
    for (const int64_t least : {1, 41}) {
        Planned before = planned(1, 40), after = before;
        after.offload_min_batch = least;
        expect_equal(before, {"offload-min-batch=" + std::to_string(least)}, after);
    }
}

TEST_P(EqualsRun, WhatTheUserPlacedStays) {
    Planned before = planned(99, 40);
    before.overrides = {"ffn_down=cpu"};
    Planned after = before;
    after.n_gpu_layers = 2;
    expect_equal(before, {"ngl=2"}, after);
    expect_equal(after, {"ngl=99"}, before);

    before = after = planned(0, 8);
    before.cache_on_host = after.cache_on_host = true;
    after.n_gpu_layers = 99;
    expect_equal(before, {"ngl=99"}, after);
    expect_equal(after, {"ngl=0"}, before);
}

class SharesEqualRun : public OnDevices {};
INSTANTIATE_TEST_SUITE_P(WhatIf, SharesEqualRun, ::testing::ValuesIn(each_on_each(run_models, {"vulkan0,vulkan0,cpu"})), name_of);

TEST_P(SharesEqualRun, OfLayersOffloaded) {
    Planned before = planned(99, 40);
    before.tensor_split = {3, 1};
    Planned after = before;
    after.n_gpu_layers = 3;
    expect_equal(before, {"ngl=3"}, after);
}

class WeightsLieAsInARun : public OnDevices {};
INSTANTIATE_TEST_SUITE_P(WhatIf, WeightsLieAsInARun,
                         ::testing::ValuesIn(each_on_each({"tiny", "tiny-moe", "tied", "wide", "storyteller-q8_0"}, run_devices)),
                         name_of);

/// Also which of them are laid out, and whether a matrix in which rows are looked up is there twice.
TEST_P(WeightsLieAsInARun, WhereTheCpuIsAlone) {
    struct Case {
        bool mmap = true, mlock = false, repack = true, image = false;
    };
    for (const Case& c : {Case{}, Case{.mmap = false}, Case{.mlock = true}, Case{.repack = false}, Case{.image = true}}) {
        SCOPED_TRACE(std::string(c.mmap ? "" : "--no-mmap ") + (c.mlock ? "--mlock " : "") + (c.repack ? "" : "--no-repack ") +
                     (c.image ? "with an image" : ""));
        Planned before = planned(99, 8);
        before.mmap = c.mmap;
        before.mlock = c.mlock;
        before.repack = c.repack;
        before.image = c.image;
        Planned after = before;
        after.devices = "cpu";
        const auto run = recorded(after);
        const ReplayResult answered = answer(*recorded(before), {"device-order=cpu"}), as_run = answer(*run, {"ngl=99"});
        ASSERT_EQ(answered.comparisons.size(), as_run.comparisons.size());
        for (size_t i = 0; i < answered.comparisons.size(); ++i) {
            EXPECT_EQ(answered.comparisons[i].now.memory, as_run.comparisons[i].recorded.memory);
        }
    }
}

class EqualsRealRun : public OnDevices {};
INSTANTIATE_TEST_SUITE_P(WhatIf, EqualsRealRun, ::testing::ValuesIn(each_on_each({"tiny"}, run_devices)), name_of);

TEST_P(EqualsRealRun, OfLayersAndFlashAttention) {
    Planned before = planned(99, 40), after = planned(2, 40);
    before.runs = after.runs = true;
    before.flash = FlashAttention::on;
    after.flash = FlashAttention::off;
    expect_equal(before, {"ngl=2", "fa=off"}, after);
}

TEST(WhatIfAnswers, NothingWhereNothingChanges) {
    Planned s;
    s.devices = "cpu";
    const auto store = recorded(s);
    const ReplayResult result = answer(*store, {"ngl=99", "fa=on"});
    EXPECT_EQ(result.n_differences, 0);
    for (const PlanComparison& c : result.comparisons) {
        EXPECT_TRUE(c.changes.empty());
        EXPECT_EQ(c.recorded.nodes, c.now.nodes);
        EXPECT_EQ(c.recorded.memory, c.now.memory);
    }
}

TEST(WhatIfAnswers, NoDifferenceReadsTheSameOnBothSides) {
    for (const char* setting : {"fa=off", "stages=4", "op-offload=off", "refuse=cpu:ROPE"}) {
        Planned s;
        s.devices = "cpu";
        for (const ReplayDifference& d : answer(*recorded(s), {setting}).differences) {
            EXPECT_NE(d.recorded, d.now) << setting << ", " << d.what << " of " << d.name;
        }
    }
}

/// A trace may be damaged: whatever a graph lacks, it is planned or left alone, and nothing breaks.
TEST(WhatIfAnswers, AGraphThatLacksSourcesIsLeftAsItIs) {
    Planned s;
    s.devices = registry().find("vulkan0") != nullptr ? "vulkan0,cpu" : "cpu";
    const auto store = recorded(s);
    const OwnedGraph& whole = store->graph(0);
    for (size_t t = 0; t < whole.tensors.size(); ++t) {
        for (const int damage : {0, 1, 2}) {
            OwnedGraph graph = OwnedGraph::copy_of(whole.view());
            TensorInfo& tensor = graph.tensors[t];
            if (damage == 0) {
                tensor.src.fill(no_tensor);
            } else if (damage == 1) {
                tensor.view_source = no_tensor;
            } else {
                tensor.ne = {0, 1, 1, 1};
            }
            const SessionInfo session = store->session();
            CapabilityTable answers = store->answers(0);
            answers.session = &session;
            Carry carry;
            Plan plan;
            try {
                make_plan(graph.view(), answers, {}, carry, plan, nullptr);
            } catch (const PlanError&) {
                continue;
            }
            EXPECT_EQ(optimised_nodes(graph.view(), plan, session).order.size(), graph.nodes.size());
        }
    }
}

TEST(WhatIfAnswers, AQuantisedCacheHasNoGraphWithoutFlashAttention) {
    LiveStore store;
    RunOptions o;
    o.devices = "cpu";
    o.header_only = true;
    o.cache_type_v = Type::Q8_0;
    SynthShape shape = synth_preset("llama", "tiny");
    shape.n_head = 2; // heads of 32: a block of the cache's type
    shape.n_head_kv = 1;
    const auto wide_heads = std::make_shared<const gguf::File>(synthesise_in_memory(shape, Type::F32, 1, "made"));
    Session session(registry(), wide_heads, o, &store);
    GenerateRequest request;
    request.prompts.push_back({0, {1, 300, 301}, std::nullopt});
    plan_generation(session, request);
    try {
        answer(store, {"fa=off"});
        FAIL();
    } catch (const Error& e) {
        EXPECT_EQ(e.kind(), ErrorKind::usage);
        EXPECT_THAT(e.what(), ::testing::HasSubstr("needs flash attention"));
    }
}

TEST(WhatIfAnswers, AlternativesAreRecordedOnceForEachShape) {
    Planned s;
    s.devices = "cpu";
    s.runs = true;
    s.n_prompt = 144; // three ubatches of 48 tokens in the same cells: one graph
    const auto store = recorded(s);
    int plans = 0, reserves = 0, alternatives = 0;
    std::vector<Record> records;
    store->read(0, store->n_steps(), records);
    for (const Record& r : records) {
        plans += std::holds_alternative<record::PlanBegin>(r.fact) ? 1 : 0;
        reserves += std::holds_alternative<record::Reserve>(r.fact) ? 1 : 0;
        alternatives += std::holds_alternative<record::Alternative>(r.fact) ? 1 : 0;
    }
    EXPECT_EQ(reserves, 2);
    EXPECT_EQ(alternatives, plans + reserves);
    EXPECT_EQ(store->n_graphs(), 2 * (plans + reserves));
    EXPECT_EQ(store->n_evaluations(), 5);
}

} // namespace
} // namespace schedscope
