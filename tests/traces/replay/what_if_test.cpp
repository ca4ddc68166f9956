#include "runtime/error.h"
#include "tests/support/paths.h"
#include "tests/support/traces/sample_run.h"
#include "traces/replay/what_if.h"
#include "traces/store/live_store.h"
#include "traces/store/reading/reader.h"

#include <gmock/gmock.h>

namespace schedscope {
namespace {

using namespace test;
using ::testing::HasSubstr;

constexpr int n_blocks = 4;

SessionInfo facts_of_a_run(int n_gpu_layers) {
    SessionInfo info = session({"Vulkan0", "Vulkan1", "CPU"});
    info.settings.emplace();
    info.settings->n_layers = n_blocks;
    info.settings->placement.n_gpu_layers = n_gpu_layers;
    info.settings->flash_attention = false;
    return info;
}

/// The graph as the runtime would place it: layers in runs over two equal devices, from the first offloaded one on.
OwnedGraph placed(int n_gpu_layers, int n_tokens, bool second_device = true) {
    OwnedGraph graph = blocks(n_blocks, n_tokens, 3);
    const auto home = [&](int layer) -> BackendId {
        const int offloaded = std::min(n_gpu_layers, n_blocks + 1), first = n_blocks + 1 - offloaded;
        if (layer < first) {
            return 2;
        }
        return second_device && 2 * (layer - first) >= offloaded ? 1 : 0;
    };
    for (TensorInfo& t : graph.tensors) {
        const bool of_block = t.name.starts_with("blk.");
        if (t.usage == BufferUsage::weights && (of_block || t.name == "output.weight")) {
            t.role = of_block ? Role::attention : Role::output;
            t.layer = of_block ? t.name[4] - '0' : n_blocks;
            t.buffer_type = home(t.layer);
        } else if (t.usage == BufferUsage::weights) {
            t.role = Role::embedding;
        }
        if (t.name.starts_with("norm-")) {
            t.role = Role::norm;
            t.layer = t.name[5] - '0';
        }
        if (t.name.starts_with("norm-") && (n_tokens < 32 || n_gpu_layers > n_blocks)) {
            t.user_backend = home(t.name[5] - '0');
        }
    }
    return graph;
}

std::shared_ptr<LiveStore> recorded(int n_gpu_layers, int n_tokens, bool second_device = true, int n_plans = 1) {
    auto store = std::make_shared<LiveStore>();
    SampleRun run(*store, facts_of_a_run(n_gpu_layers));
    for (int i = 0; i < n_plans; ++i) {
        run.evaluate(placed(n_gpu_layers, n_tokens, second_device));
    }
    return store;
}

ReplayResult changed(const RecordSource& source, const std::vector<std::string>& settings) {
    WhatIf what_if;
    for (const std::string& setting : settings) {
        what_if.set(setting);
    }
    ReplayOptions options = options_for(what_if, source);
    options.max_differences = 100000;
    return replay(source, options);
}

/// A run with the change and a plan of the other run's records start from the same: tensors in the same places, pinned alike, and
/// the same answers.
void expect_answered(const RecordSource& from, const std::vector<std::string>& settings, const RecordSource& to) {
    WhatIf what_if;
    for (const std::string& setting : settings) {
        what_if.set(setting);
    }
    ReplayOptions options = options_for(what_if, from);
    int n_plans = 0;
    const auto change = options.change;
    options.change = [&](ReplayInput& input) {
        change(input);
        ++n_plans;
        const SessionInfo session = to.session();
        const OwnedGraph& other = to.graph(0);
        const auto name = [](const SessionInfo& of, BackendId b) {
            return b == no_backend ? "-" : of.backends[static_cast<size_t>(b)].name;
        };
        ASSERT_EQ(input.graph.tensors.size(), other.tensors.size());
        for (size_t t = 0; t < other.tensors.size(); ++t) {
            EXPECT_EQ(input.graph.tensors[t].buffer_type, other.tensors[t].buffer_type) << other.tensors[t].name;
            EXPECT_EQ(name(input.session, input.graph.tensors[t].user_backend), name(session, other.tensors[t].user_backend))
                << other.tensors[t].name;
        }
        for (size_t b = 0; b < input.session.backends.size(); ++b) {
            for (size_t t = 0; t < other.tensors.size(); ++t) {
                EXPECT_EQ(input.answers.supports_op(static_cast<BackendId>(b), static_cast<TensorId>(t)).yes,
                          input.session.backends[b].name == "CPU" || other.tensors[t].op != Op::ARGSORT);
            }
        }
    };
    replay(from, options);
    EXPECT_EQ(n_plans, 1);
}

TEST(WhatIf, WithNothingChangedNothingDiffers) {
    EXPECT_EQ(changed(*recorded(99, 8), {}).n_differences, 0);
    EXPECT_EQ(changed(*recorded(3, 8), {"ngl=3"}).n_differences, 0);
    EXPECT_EQ(changed(*recorded(3, 8),
                      {"device-order=vulkan0,Vulkan1,cpu", "op-offload=on", "stages=1", "offload-min-batch=32", "fa=off"})
                  .n_differences,
              0);
}

TEST(WhatIf, OtherLayersOffloadedIsWhatARunWithThemDecides) {
    expect_answered(*recorded(99, 8), {"ngl=2"}, *recorded(2, 8));
    expect_answered(*recorded(2, 8), {"ngl=99"}, *recorded(99, 8));
    expect_answered(*recorded(3, 40), {"ngl=0"}, *recorded(0, 40));
}

/// A graph as the runtime places an image encoder's: all weights on one backend.
std::shared_ptr<LiveStore> recorded_encoder(int n_gpu_layers, BackendId home) {
    auto store = std::make_shared<LiveStore>();
    SampleRun run(*store, facts_of_a_run(n_gpu_layers));
    OwnedGraph graph = blocks(n_blocks, 40, 3);
    for (TensorInfo& t : graph.tensors) {
        if (t.usage == BufferUsage::weights) {
            t.role = Role::encoder;
            t.buffer_type = home;
        }
    }
    run.evaluate(std::move(graph), GraphKind::encoder);
    return store;
}

TEST(WhatIf, ImageEncodersGoToTheFirstDeviceOrToTheHost) {
    constexpr BackendId first = 0, second = 1, host = 2;
    expect_answered(*recorded_encoder(99, first), {"ngl=0"}, *recorded_encoder(0, host));
    expect_answered(*recorded_encoder(0, host), {"ngl=1"}, *recorded_encoder(1, first));
    expect_answered(*recorded_encoder(99, first), {"ngl=2"}, *recorded_encoder(2, first));
    expect_answered(*recorded_encoder(99, second), {"ngl=99"}, *recorded_encoder(99, first));
}

TEST(WhatIf, WithOneDeviceLessItsLayersGoToTheOther) {
    expect_answered(*recorded(99, 8), {"device-order=vulkan0"}, *recorded(99, 8, false));
    const ReplayResult none = changed(*recorded(99, 8), {"device-order=cpu"});
    for (const ReplayDifference& d : none.differences) {
        EXPECT_EQ(d.now.find("Vulkan"), std::string::npos) << d.now;
    }
    EXPECT_GT(none.n_differences, 0);
}

TEST(WhatIf, MemoryIsCalledByWhatLiesThere) {
    auto store = std::make_shared<LiveStore>();
    SampleRun run(*store, facts_of_a_run(99));
    OwnedGraph graph = placed(99, 8);
    const auto place = [&](std::string_view name, Role role) {
        for (const TensorId id : graph.leafs) {
            if (TensorInfo& t = graph.tensors[id]; t.name == name) {
                t.role = role;
                t.buffer_type = 2;
                return t.bytes().value();
            }
        }
        return int64_t{-1};
    };
    const int64_t cache = place("KQ_mask", Role::cache), sampling = place("inp_pos", Role::sampling),
                  input = place("inp_tokens", Role::none);
    run.evaluate(std::move(graph));
    auto memory = changed(*store, {"refuse=vulkan0:ROPE"}).comparisons.at(0).recorded.memory;
    EXPECT_EQ(memory["KV cache in CPU"], cache);
    EXPECT_EQ(memory["sampling state in CPU"], sampling);
    EXPECT_EQ(memory["inputs in CPU"], input);
}

TEST(WhatIf, ARefusedOperatorGoesElsewhere) {
    const ReplayResult result = changed(*recorded(99, 8), {"refuse=vulkan0:rope", "refuse=Vulkan1:ROPE"});
    bool moved = false;
    for (const ReplayDifference& d : result.differences) {
        moved = moved || (d.what == "assignment" && d.name == "Qcur-0" && d.now.starts_with("CPU"));
    }
    EXPECT_TRUE(moved);
}

TEST(WhatIf, AnOperatorIsRefusedByEachNameThatListsShow) {
    const TraceReader sample(paths::sample("partial-offload"));
    const int64_t of_glu = changed(sample, {"refuse=vulkan0:glu"}).n_differences;
    EXPECT_GT(of_glu, 0);
    EXPECT_EQ(changed(sample, {"refuse=vulkan0:SWIGLU"}).n_differences, of_glu);
    EXPECT_EQ(changed(sample, {"refuse=vulkan0:REGLU"}).n_differences, changed(sample, {"refuse=vulkan0:CONV_2D"}).n_differences);
    EXPECT_THROW(changed(sample, {"refuse=vulkan0:SWIGLUE"}), Error);
}

TEST(WhatIf, OffloadDependsOnTheBatchAndTheSwitch) {
    const auto small = recorded(0, 8), large = recorded(0, 40);
    const auto offloads = [](const ReplayResult& r) {
        return std::count_if(r.differences.begin(), r.differences.end(), [](const ReplayDifference& d) {
            return d.what == "assignment" && d.now.find("1.off") != std::string::npos;
        });
    };
    EXPECT_GT(offloads(changed(*small, {"offload-min-batch=8"})), 0);
    EXPECT_EQ(offloads(changed(*small, {"offload-min-batch=9"})), 0);
    const ReplayResult off = changed(*large, {"op-offload=off"});
    EXPECT_GT(off.n_differences, 0);
    EXPECT_EQ(offloads(off), 0);
}

TEST(WhatIf, StagesMakeACopyEach) {
    const auto source = recorded(99, 8, true, 3);
    const ReplayResult result = changed(*source, {"stages=4"});
    EXPECT_TRUE(std::any_of(result.differences.begin(), result.differences.end(),
                            [](const ReplayDifference& d) { return d.what == "copy" && d.recorded.empty() && !d.now.empty(); }));
    EXPECT_TRUE(std::any_of(result.differences.begin(), result.differences.end(),
                            [](const ReplayDifference& d) { return d.what == "graph_input"; }));
}

TEST(WhatIf, WhatIsNotUnderstoodOrNotAnswerableIsSaid) {
    const auto source = recorded(99, 8);
    const auto why = [&](const std::string& setting) {
        try {
            changed(*source, {setting});
        } catch (const Error& error) {
            EXPECT_EQ(error.kind(), ErrorKind::usage);
            return std::string(error.what());
        }
        return std::string("understood");
    };
    EXPECT_THAT(why("ngl"), HasSubstr("NAME=VALUE"));
    EXPECT_THAT(why("ngl=many"), HasSubstr("a number from 0"));
    EXPECT_THAT(why("ngl=-1"), HasSubstr("a number from 0"));
    EXPECT_THAT(why("stages=17"), HasSubstr("from 1 to 16"));
    EXPECT_THAT(why("refuse=vulkan0:EXPLODE"), HasSubstr("no operator 'EXPLODE'"));
    EXPECT_THAT(why("refuse=ROPE"), HasSubstr("DEVICE:OP"));
    EXPECT_THAT(why("refuse=cuda0:ROPE"), HasSubstr("the trace has no device 'cuda0'; it has Vulkan0, Vulkan1, CPU"));
    EXPECT_THAT(why("device-order=vulkan0,,cpu"), HasSubstr("names with commas"));
    EXPECT_THAT(why("device-order=vulkan0,vulkan0"), HasSubstr("twice"));
    EXPECT_THAT(why("op-offload=yes"), HasSubstr("on or off"));
    EXPECT_THAT(why("fa=on"), HasSubstr("record it again with -fa on"));
    EXPECT_THAT(why("threads=4"), HasSubstr("there are ngl, device-order"));
}

} // namespace
} // namespace schedscope
