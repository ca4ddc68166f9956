// What would put a tensor elsewhere: what is said does it, and nothing smaller of its kind does. Against trying every number of
// layers, and the other settings one by one.
#include "tests/traces/replay/what_if/planned_run.h"

#include "traces/replay/levers.h"

#include <gmock/gmock.h>

#include <map>

namespace schedscope {
namespace {

using namespace test;
using ::testing::Contains;
using ::testing::Field;
using ::testing::StartsWith;

/// Where each tensor is that a change moves, in the first plan.
std::map<TensorId, std::string> moved_by(const RecordSource& source, const std::string& setting) {
    std::map<TensorId, std::string> moved;
    const ReplayResult result = answer(source, {setting});
    for (const TensorChange& change : result.comparisons.front().changes) {
        if (change.tensor != no_tensor && !change.now_backend.empty() && change.now_backend != change.recorded_backend) {
            moved.emplace(change.tensor, change.now_backend);
        }
    }
    return moved;
}

const OwnedGraph& first_graph(const RecordSource& source) {
    std::vector<Record> begin;
    const Step at = source.next_of(-1, fact_bit<record::PlanBegin>());
    source.read(at, at + 1, begin);
    return source.graph(std::get<record::PlanBegin>(begin.at(0).fact).graph);
}

class Otherwise : public OnDevices {};
INSTANTIATE_TEST_SUITE_P(WhatIf, Otherwise, ::testing::ValuesIn(each_on_each({"tiny", "tiny-moe"}, {"vulkan0,cpu"})), name_of);

TEST_P(Otherwise, IsTheSmallestChangeOfEachKind) {
    for (const int n_gpu_layers : {0, 2, 99}) {
        const auto source = recorded(planned(n_gpu_layers, 40));
        const int32_t all = source->session().settings->n_layers + 1, now = std::min(n_gpu_layers, all);
        std::vector<std::map<TensorId, std::string>> with_layers;
        for (int32_t n = 0; n <= all; ++n) {
            with_layers.push_back(moved_by(*source, "ngl=" + std::to_string(n)));
        }
        const EvaluationId evaluation = 0;
        const OwnedGraph& graph = first_graph(*source);
        for (TensorId id = 0; id < n_of(graph.tensors); id += 7) {
            SCOPED_TRACE(std::string(graph.tensors[id].name) + ", -ngl " + std::to_string(n_gpu_layers));
            int32_t nearest = -1; // more layers first, as they are tried
            for (int32_t n = all; n > now; --n) {
                nearest = with_layers[n].contains(id) ? n : nearest;
            }
            for (int32_t n = 0; n < now && !with_layers[all].contains(id); ++n) {
                nearest = with_layers[n].contains(id) ? n : nearest;
            }
            const std::vector<Lever> levers = levers_of(*source, evaluation, id);
            int32_t found = -1;
            for (const Lever& lever : levers) {
                if (!lever.setting.empty()) {
                    const auto moved = moved_by(*source, lever.setting);
                    ASSERT_TRUE(moved.contains(id)) << lever.setting;
                    EXPECT_EQ(moved.at(id), lever.backend) << lever.setting;
                }
                if (lever.setting.starts_with("ngl=")) {
                    found = std::stoi(lever.setting.substr(4));
                }
            }
            EXPECT_EQ(found, nearest);
        }
    }
}

TEST_P(Otherwise, IsSaidOfWhatAThresholdKeepsFromADevice) {
    const auto source = recorded(planned(0, 8)); // fewer tokens than the 32 that offload takes
    const OwnedGraph& graph = first_graph(*source);
    const TensorId product = graph.nodes.back();
    ASSERT_EQ(graph.tensors[product].op, Op::MUL_MAT);
    EXPECT_THAT(levers_of(*source, 0, product), Contains(Field(&Lever::setting, StartsWith("ngl="))));
    bool is_said = false;
    for (const TensorId node : graph.nodes) {
        for (const Lever& lever : levers_of(*source, 0, node)) {
            is_said |=
                lever.setting == "offload-min-batch=8" && lever.words == "--offload-min-batch 8" && lever.backend == "Vulkan0";
        }
    }
    EXPECT_TRUE(is_said);
}

TEST(Levers, AreSaidOncePerBackend) {
    EXPECT_THAT(levers_in_words({{"ngl=5", "-ngl 5 or more", "Vulkan0"},
                                 {"nkvo=on", "-nkvo", "CPU"},
                                 {"offload-min-batch=1", "--offload-min-batch 1", "Vulkan0"}}),
                ::testing::ElementsAre("on Vulkan0 with -ngl 5 or more, or --offload-min-batch 1", "on CPU with -nkvo"));
}

} // namespace
} // namespace schedscope
