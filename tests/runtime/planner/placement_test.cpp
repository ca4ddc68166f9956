// Where a model's tensors belong before anything is planned, as llama.cpp's users know it.
#include "runtime/planner/placement/policy.h"

#include "runtime/error.h"

#include <gmock/gmock.h>

namespace schedscope {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

const std::vector<PlacedDevice> cpu{{"CPU", "cpu"}};
const std::vector<PlacedDevice> one{{"Vulkan0", "gpu"}, {"CPU", "cpu"}};
const std::vector<PlacedDevice> two{{"Vulkan0", "gpu"}, {"Vulkan1", "gpu"}, {"CPU", "cpu"}};

bool runs_all(int32_t /*home*/) { return true; }
bool runs_nothing(int32_t /*home*/) { return false; }

std::vector<int> homes(const PlacementOptions& options, const std::vector<PlacedDevice>& devices, int n_layers) {
    const PlacementPolicy policy(options, devices, n_layers);
    std::vector<int> out;
    for (int il = 0; il <= n_layers; ++il) {
        out.push_back(policy.layer_home(il));
    }
    return out;
}

std::string refusal(const PlacementOptions& options, const std::vector<PlacedDevice>& devices) {
    try {
        const PlacementPolicy policy(options, devices, 4);
        std::vector<OverrideReport> reports = override_reports(policy.overrides());
        count_matches(policy.overrides(), "blk.0.attn_q.weight", reports);
        require_matches(reports);
    } catch (const Error& error) {
        EXPECT_EQ(error.kind(), ErrorKind::usage);
        return error.what();
    }
    return "understood";
}

TEST(Placement, NLayersAreTheOutputAndTheLastBlocks) {
    EXPECT_THAT(homes({.n_gpu_layers = 0}, one, 4), ElementsAre(1, 1, 1, 1, 1));
    EXPECT_THAT(homes({.n_gpu_layers = 1}, one, 4), ElementsAre(1, 1, 1, 1, 0));
    EXPECT_THAT(homes({.n_gpu_layers = 3}, one, 4), ElementsAre(1, 1, 0, 0, 0));
    EXPECT_THAT(homes({.n_gpu_layers = 5}, one, 4), ElementsAre(0, 0, 0, 0, 0));
    EXPECT_THAT(homes({.n_gpu_layers = 99}, one, 4), ElementsAre(0, 0, 0, 0, 0));
}

TEST(Placement, OlderBuildsOffloadTheOutputLast) {
    EXPECT_THAT(homes({.n_gpu_layers = 0, .output_last = true}, one, 4), ElementsAre(1, 1, 1, 1, 1));
    EXPECT_THAT(homes({.n_gpu_layers = 1, .output_last = true}, one, 4), ElementsAre(1, 1, 1, 0, 1));
    EXPECT_THAT(homes({.n_gpu_layers = 4, .output_last = true}, one, 4), ElementsAre(0, 0, 0, 0, 1));
    EXPECT_THAT(homes({.n_gpu_layers = 5, .output_last = true}, one, 4), ElementsAre(0, 0, 0, 0, 0));
    EXPECT_THAT(homes({.n_gpu_layers = 99, .output_last = true}, one, 4), ElementsAre(0, 0, 0, 0, 0));
    EXPECT_THAT(homes({.n_gpu_layers = 2, .tensor_split = {1, 1}, .output_last = true}, two, 3), ElementsAre(2, 0, 1, 2));
}

TEST(Placement, BlasAndCpuHoldNoOffloadedLayers) {
    EXPECT_THAT(homes({}, {{"BLAS", "blas"}, {"CPU", "cpu"}}, 2), ElementsAre(1, 1, 1));
}

TEST(Placement, WhatSamplersReadLiesWithTheOutputsMatrixForTheReasonThatPutItThere) {
    const PlacementPolicy policy({.n_gpu_layers = 1}, one, 4);
    EXPECT_EQ(policy.sampling(4, 0).home, 0);
    EXPECT_EQ(policy.sampling(4, 0).why, "the output layer is offloaded to Vulkan0 (-ngl 1)");
    EXPECT_EQ(policy.sampling(4, 1).home, 1) << "an override put the matrix on the host";
    EXPECT_EQ(policy.sampling(4, 1).why, "what samplers read lies with the output's matrix");
    EXPECT_EQ(policy.sampling(4, -1).home, 0) << "no matrix is known";
}

TEST(Placement, SeveralDevicesShareByTheSplit) {
    EXPECT_THAT(homes({.tensor_split = {1, 1}}, two, 3), ElementsAre(0, 0, 1, 1));
    EXPECT_THAT(homes({.tensor_split = {3, 1}}, two, 3), ElementsAre(0, 0, 0, 1));
    EXPECT_THAT(homes({.tensor_split = {0, 1}}, two, 3), ElementsAre(1, 1, 1, 1));
    EXPECT_THAT(homes({.tensor_split = {1}}, two, 3), ElementsAre(0, 0, 0, 0));
    EXPECT_THAT(homes({.n_gpu_layers = 2, .tensor_split = {1, 1}}, two, 3), ElementsAre(2, 2, 0, 1));
}

TEST(Placement, WithoutASplitMemoryDecides) {
    std::vector<PlacedDevice> devices = two;
    devices[0].memory_bytes = 3000;
    devices[1].memory_bytes = 1000;
    EXPECT_THAT(homes({}, devices, 7), ElementsAre(0, 0, 0, 0, 0, 0, 1, 1));
    devices[1].memory_bytes = 0; // unknown: equal shares
    EXPECT_THAT(homes({}, devices, 7), ElementsAre(0, 0, 0, 0, 1, 1, 1, 1));
}

TEST(Placement, OfWeightsFollowsTheirPart) {
    const PlacementPolicy policy({.n_gpu_layers = 2}, one, 4);
    const auto home = [&](ModelPart part) { return policy.weight("a.weight", part, runs_all).home; };
    EXPECT_EQ(home({Role::embedding}), 1);
    EXPECT_EQ(home({Role::attention, 2}), 1);
    EXPECT_EQ(home({Role::experts, 3}), 0);
    EXPECT_EQ(home({Role::output, 4}), 0);
    EXPECT_EQ(home({Role::encoder, 0}), 0) << "an encoder is not cut into layers";
    EXPECT_EQ(policy.weight("a.weight", {Role::experts, 3}, runs_all).why, "block 3 of 4 is offloaded to Vulkan0 (-ngl 2)");
    EXPECT_EQ(policy.weight("a.weight", {Role::output, 4}, runs_all).why, "the output layer is offloaded to Vulkan0 (-ngl 2)");
    EXPECT_EQ(policy.weight("a.weight", {Role::attention, 0}, runs_all).why, "block 0 of 4 is not offloaded (-ngl 2)");

    const WeightHome left = policy.weight("a.weight", {Role::experts, 3}, runs_nothing);
    EXPECT_EQ(left.home, 1);
    EXPECT_EQ(left.wanted, 0);
    EXPECT_THAT(std::string(left.why), HasSubstr("can't run the operator that reads it"));
    EXPECT_EQ(PlacementPolicy({.n_gpu_layers = 0}, one, 4).weight("a.weight", {Role::encoder, 0}, runs_all).home, 1);
}

TEST(Placement, OverridesBeatThePartAndTheFirstMatchWins) {
    const PlacementPolicy policy({.overrides = {{"ffn_.*_exps", "cpu"}, {"blk\\.1\\.", "VULKAN1"}}}, two, 4);
    const auto home = [&](const char* name) { return policy.weight(name, {Role::experts, 0}, runs_all).home; };
    EXPECT_EQ(home("blk.1.ffn_up_exps.weight"), 2);
    EXPECT_EQ(home("blk.1.attn_q.weight"), 1);
    EXPECT_EQ(home("blk.2.attn_q.weight"), 0);
    EXPECT_EQ(policy.weight("blk.1.attn_q.weight", {Role::embedding}, runs_all).why, "-ot blk\\.1\\.=VULKAN1");

    std::vector<OverrideReport> reports = override_reports(policy.overrides());
    for (const char* name : {"blk.1.ffn_up_exps.weight", "blk.1.attn_q.weight", "blk.2.attn_q.weight"}) {
        count_matches(policy.overrides(), name, reports);
    }
    ASSERT_EQ(reports.size(), 2U);
    EXPECT_EQ(reports[0].matched, 1);
    EXPECT_EQ(reports[1].matched, 1);
    EXPECT_EQ(reports[1].shadowed, 1);
    EXPECT_EQ(override_note(reports[1]), "-ot blk\\.1\\.=Vulkan1: 1 tensor, 1 more were placed by a pattern before it");
}

TEST(Placement, OfTheCacheIsItsLayersUnlessItIsKeptOnTheHost) {
    EXPECT_EQ(PlacementPolicy({.n_gpu_layers = 2}, one, 4).cache(3).home, 0);
    EXPECT_EQ(PlacementPolicy({.n_gpu_layers = 2}, one, 4).cache(2).home, 1);
    EXPECT_EQ(PlacementPolicy({.cache_on_host = true}, one, 4).cache(3).home, 1);
}

TEST(Placement, NormsArePinnedInSmallBatchesOrWhereAllIsOffloaded) {
    const PlacementPolicy some({.n_gpu_layers = 2}, one, 4), all({}, one, 4);
    const ModelPart norm{Role::norm, 3};
    EXPECT_EQ(some.pin(Op::RMS_NORM, norm, 31, runs_all).home, 0);
    EXPECT_EQ(some.pin(Op::NORM, {Role::norm, 0}, 31, runs_all).home, 1);
    EXPECT_EQ(some.pin(Op::RMS_NORM, norm, 32, runs_all).home, -1);
    EXPECT_THAT(std::string(some.pin(Op::RMS_NORM, norm, 32, runs_all).why), HasSubstr("32 tokens or more"));
    EXPECT_EQ(all.pin(Op::RMS_NORM, norm, 32, runs_all).home, 0);
    EXPECT_EQ(all.pin(Op::RMS_NORM, norm, 1, runs_nothing).home, -1);
    EXPECT_EQ(all.pin(Op::MUL, norm, 1, runs_all).home, -1) << "its weights decide where the product goes";
    EXPECT_EQ(all.pin(Op::RMS_NORM, {Role::norm, -1}, 1, runs_all).home, -1) << "the norm in front of the output follows it";
    EXPECT_EQ(all.pin(Op::RMS_NORM, {Role::attention, 3}, 1, runs_all).why, "");
}

TEST(Placement, AttentionInFrontOfItsProjectionStaysWithACacheOnTheHost) {
    const PlacementPolicy on_host({.cache_on_host = true}, one, 4), on_device({}, one, 4);
    EXPECT_EQ(on_host.pin(Op::CONT, {Role::attended, 3}, 1, runs_all).home, 1);
    EXPECT_EQ(on_device.pin(Op::CONT, {Role::attended, 3}, 1, runs_all).home, -1);
    EXPECT_EQ(on_host.pin(Op::CONT, {Role::attention, 3}, 1, runs_all).home, -1);
}

TEST(Placement, FlashAttentionIsOnWhereEachLayersDeviceRunsIt) {
    struct Node {
        Op op;
        int32_t layer;
    };
    const std::vector<Node> nodes{{Op::FLASH_ATTN_EXT, 0}, {Op::ROPE, 1}, {Op::FLASH_ATTN_EXT, 1}};
    const auto everywhere = [&](int32_t n_gpu_layers, int32_t lacks_it) {
        return PlacementPolicy({.n_gpu_layers = n_gpu_layers}, one, 2)
            .flash_attention_everywhere(
                nodes, [](const Node& node) -> const Node& { return node; },
                [&](int32_t home, const Node&) { return home != lacks_it; });
    };
    EXPECT_FALSE(everywhere(99, 0));
    EXPECT_TRUE(everywhere(99, 1));
    EXPECT_FALSE(everywhere(2, 1)) << "block 0 is on the CPU";
    EXPECT_TRUE(everywhere(1, 0)) << "the output alone is on the device";
}

TEST(Placement, WhatIsNotUnderstoodIsRefused) {
    EXPECT_THROW(TensorOverride::parse("blk"), Error);
    EXPECT_EQ(TensorOverride::parse("a=b=cpu"), (TensorOverride{"a=b", "cpu"})) << "a pattern may contain '='";
    EXPECT_THAT(refusal({.overrides = {{"blk", "cuda0"}}}, one), HasSubstr("Vulkan0, CPU"));
    EXPECT_THAT(refusal({.overrides = {{"(", "cpu"}}}, one), HasSubstr("regular expression"));
    EXPECT_THAT(refusal({.overrides = {{"nothing", "cpu"}}}, one), HasSubstr("matches no weight"));
    EXPECT_THAT(refusal({.tensor_split = {1, 2, 3}}, one), HasSubstr("-ts"));
    EXPECT_THAT(refusal({.tensor_split = {-1}}, one), HasSubstr("-ts"));
}

} // namespace
} // namespace schedscope
