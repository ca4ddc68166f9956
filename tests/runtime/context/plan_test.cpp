#include "tests/runtime/context/sched_log.h"
#include "tests/support/models/fake_devices.h"
#include "tests/support/traces/plan_record.h"

#include "runtime/context/inference_context.h"
#include "runtime/gguf/gguf.h"
#include "tests/support/models/storyteller.h"
#include "tests/support/paths.h"

#include <gtest/gtest.h>

#include <filesystem>

using namespace schedscope;
using namespace schedscope::test;

namespace {

struct Setup {
    int ngl = 99;
    bool blas = false;
    bool flash_attention = true;
    bool cache_on_host = false;
    bool op_offload = true;
    int stages = 1;
    std::string type = "f32";
};

/// A plan depends on a model's sizes alone, and the teller has those of stories260K.
std::string planned_model(const std::string& type) { return Storyteller().model(type); }

/// stories260K in plans only: Vulkan0 (or BLAS) over the CPU, 256 cells, as the reference's logs were made.
class Planned {
public:
    explicit Planned(const Setup& setup, int n_tokens, int n_outputs = 1) {
        devices.push_back(setup.blas ? static_cast<Device*>(&blas) : &gpu);
        devices.push_back(&registry.cpu());
        for (Device* d : devices) {
            backends.push_back(d->make_backend({}));
        }
        PlacementOptions placement;
        placement.n_gpu_layers = setup.ngl;
        placement.cache_on_host = setup.cache_on_host;
        model = std::make_unique<Model>(std::make_shared<gguf::File>(gguf::File::open(planned_model(setup.type))), devices,
                                        placement, LoadMode::header);
        SchedulerOptions scheduling;
        scheduling.op_offload = setup.op_offload;
        scheduling.n_stages = setup.stages;
        scheduler = std::make_unique<Scheduler>(backends, scheduling);
        scheduler->set_recorder(&record);
        record.session(scheduler->session());
        ContextOptions options;
        options.n_ctx = 256;
        options.flash_attention = setup.flash_attention;
        context = std::make_unique<InferenceContext>(*model, *scheduler, options);
        plan(n_tokens, n_outputs);
    }
    void plan(int n_tokens, int n_outputs) {
        Batch batch;
        for (int i = 0; i < n_tokens; ++i) {
            batch.add(1, i, only_sequence(0), i >= n_tokens - n_outputs);
        }
        context->plan_only(batch);
    }

    Registry registry;
    FakeGpu gpu{"Vulkan0"};
    FakeBlas blas;
    std::vector<Device*> devices;
    std::vector<std::unique_ptr<Backend>> backends;
    std::unique_ptr<Model> model;
    PlanRecord record;
    std::unique_ptr<Scheduler> scheduler;
    std::unique_ptr<InferenceContext> context;
};

struct Row {
    int ngl, n_tokens, splits, inputs;
};

class SplitTable : public ::testing::TestWithParam<Row> {};

TEST_P(SplitTable, has_as_many_splits_and_inputs_as_the_reference) {
    for (const bool flash : {true, false}) {
        Planned p({.ngl = GetParam().ngl, .flash_attention = flash}, GetParam().n_tokens);
        EXPECT_EQ(static_cast<int>(p.record.splits().size()), GetParam().splits);
        EXPECT_EQ(p.record.n_split_inputs(), GetParam().inputs);
        EXPECT_EQ(p.record.n_nodes(), flash ? 161 : 186);
    }
}

INSTANTIATE_TEST_SUITE_P(stories260K, SplitTable,
                         ::testing::Values(Row{0, 1, 1, 0}, Row{0, 16, 1, 0}, Row{0, 40, 54, 67}, Row{1, 1, 2, 2},
                                           Row{1, 16, 2, 2}, Row{1, 40, 55, 67}, Row{2, 1, 2, 7}, Row{2, 16, 2, 7},
                                           Row{2, 40, 46, 58}, Row{3, 1, 2, 7}, Row{3, 16, 2, 7}, Row{3, 40, 35, 45},
                                           Row{5, 1, 2, 7}, Row{5, 16, 2, 7}, Row{5, 40, 13, 19}, Row{6, 1, 2, 6},
                                           Row{6, 16, 2, 6}, Row{6, 40, 2, 6}, Row{99, 1, 2, 6}, Row{99, 16, 2, 6},
                                           Row{99, 40, 2, 6}),
                         [](const auto& info) {
                             return "ngl" + std::to_string(info.param.ngl) + "_tokens" + std::to_string(info.param.n_tokens);
                         });

TEST(Plan, without_offload_host_layers_stay_on_the_host) {
    const Planned none({.ngl = 0, .op_offload = false}, 40);
    EXPECT_EQ(none.record.splits().size(), 1U);
    const Planned three({.ngl = 3, .op_offload = false}, 40);
    EXPECT_EQ(three.record.splits().size(), 2U);
    EXPECT_EQ(three.record.n_split_inputs(), 7);
}

TEST(Plan, needs_as_much_device_memory_as_the_reference_reports) {
    // whole-run-f16-ngl2.log: "Vulkan0 compute buffer size is 0.8877 MiB" for 256 tokens with 256 outputs.
    const Planned p({.ngl = 2, .type = "f16"}, 256, 256);
    EXPECT_NEAR(static_cast<double>(p.scheduler->compute_buffer_bytes().at(0)) / 1048576, 0.8877, 0.00005);
}

TEST(Plan, keeps_a_copy_of_each_input_per_stage) {
    const Planned one({.ngl = 99}, 16);
    const Planned four({.ngl = 99, .stages = 4}, 16);
    EXPECT_EQ(one.record.splits().size(), four.record.splits().size());
    EXPECT_EQ(four.record.all<record::GraphInput>().size(), 6U) << "tokens, positions, two rows of the cache, mask, output rows";
}

struct Log {
    const char* file;
    Setup setup;
    int n_tokens;
    bool causes = true;
    bool nodes = true; ///< level 2
    size_t graph = 0;  ///< which of the log's
    int n_outputs = 1;
};

class AgainstLog : public ::testing::TestWithParam<Log> {};

TEST_P(AgainstLog, every_node_is_named_placed_and_explained_as_in_the_log) {
    const auto graphs = read_sched_log(paths::shared("logs/") + GetParam().file);
    if (!graphs) {
        GTEST_SKIP() << "no log " << GetParam().file;
    }
    const LogGraph& log = graphs->at(GetParam().graph);
    const Planned p(GetParam().setup, GetParam().n_tokens, GetParam().n_outputs);

    ASSERT_EQ(p.record.splits().size(), log.splits.size());
    for (size_t i = 0; i < log.splits.size(); ++i) {
        EXPECT_EQ(p.record.splits()[i].backend, log.splits[i].backend) << "split " << i;
        EXPECT_EQ(p.record.splits()[i].inputs, log.splits[i].inputs) << "split " << i;
    }
    ASSERT_EQ(log.nodes.empty(), !GetParam().nodes);
    for (const LogNode& expected : log.nodes) {
        ASSERT_LT(expected.index, p.record.n_nodes());
        const PlanRecord::Node node = p.record.node(expected.index);
        SCOPED_TRACE("node " + std::to_string(expected.index) + " " + node.name);
        EXPECT_EQ(node.op.substr(0, 10), expected.op);
        EXPECT_EQ(node.name.substr(0, 20), expected.name);
        EXPECT_EQ(log_size(node.bytes), expected.size);
        EXPECT_EQ(node.backend.substr(0, 5), expected.backend);
        EXPECT_EQ(GetParam().causes ? node.cause : "", expected.cause);
        ASSERT_EQ(node.sources.size(), expected.sources.size());
        for (size_t i = 0; i < expected.sources.size(); ++i) {
            EXPECT_EQ(node.sources[i].name.substr(0, 20), expected.sources[i].name);
            EXPECT_EQ(log_size(node.sources[i].bytes), expected.sources[i].size);
            if (GetParam().causes) {
                EXPECT_EQ(node.sources[i].cause, expected.sources[i].cause);
            }
            if (expected.sources[i].backend != "NULL") {
                EXPECT_EQ(node.sources[i].backend.substr(0, 5), expected.sources[i].backend);
            }
        }
    }
}

/// A whole run of the f16 model: reserved graphs first, the prompt, then a token.
Log whole_run(size_t graph, int n_tokens, int n_outputs = 1) {
    return {"whole-run-f16-ngl2.log", {.ngl = 2, .type = "f16"}, n_tokens, true, true, graph, n_outputs};
}

INSTANTIATE_TEST_SUITE_P(
    stories260K, AgainstLog,
    ::testing::Values(Log{"stories260K-ngl0-prefill40-causes.log", {.ngl = 0}, 40},
                      Log{"stories260K-ngl1-faoff-decode-causes.log", {.ngl = 1, .flash_attention = false}, 1},
                      Log{"stories260K-ngl2-prefill40-level1.log", {.ngl = 2, .flash_attention = false}, 40, false, false},
                      Log{"stories260K-ngl3-faoff-prefill40-causes.log", {.ngl = 3, .flash_attention = false}, 40},
                      Log{"stories260K-ngl3-prefill40-stock.log", {.ngl = 3, .flash_attention = false}, 40, false},
                      Log{"stories260K-ngl3-decode-stock.log", {.ngl = 3, .flash_attention = false}, 1, false},
                      Log{"stories260K-ngl3-nokqv-prefill-causes.log", {.ngl = 3, .cache_on_host = true}, 16},
                      Log{"stories260K-ngl6-faon-prefill-causes.log", {.ngl = 6}, 16},
                      Log{"stories260K-blas-cpu-faoff-prefill40-causes.log", {.blas = true, .flash_attention = false}, 40},
                      whole_run(0, 1), whole_run(1, 16, 16), whole_run(6, 256, 256), whole_run(9, 20), whole_run(10, 1)),
    [](const auto& info) {
        std::string name = info.param.file;
        name = name.substr(0, name.rfind('.')) + "_graph" + std::to_string(info.param.graph);
        std::replace(name.begin(), name.end(), '-', '_');
        return name;
    });

} // namespace
