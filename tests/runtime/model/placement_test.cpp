#include "tests/support/models/fake_devices.h"
#include "tests/support/models/made_model.h"

#include "runtime/model/model_placement.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace schedscope;
using namespace schedscope::test;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

namespace {

struct PlacementTest : ::testing::Test {
    Registry registry;
    FakeGpu first{"Vulkan0"};
    FakeGpu second{"Vulkan1"};
    FakeBlas blas;
    std::vector<Device*> one{&first, &registry.cpu()};
    std::vector<Device*> two{&first, &second, &registry.cpu()};

    static std::vector<int> homes(const PlacementOptions& options, const std::vector<Device*>& devices, int n_layer) {
        const ModelPlacement p(options, devices, n_layer);
        std::vector<int> out;
        for (int il = 0; il <= n_layer; ++il) {
            out.push_back(p.layer_home(il));
        }
        return out;
    }
    std::string refusal(const PlacementOptions& options, const std::vector<Device*>& devices) {
        return sentence_of(ErrorKind::usage, [&] { require_matches(ModelPlacement(options, devices, 4).overrides()); });
    }
};

TEST_F(PlacementTest, n_layers_are_the_output_and_the_last_blocks) {
    EXPECT_THAT(homes({.n_gpu_layers = 0}, one, 4), ElementsAre(1, 1, 1, 1, 1));
    EXPECT_THAT(homes({.n_gpu_layers = 1}, one, 4), ElementsAre(1, 1, 1, 1, 0));
    EXPECT_THAT(homes({.n_gpu_layers = 3}, one, 4), ElementsAre(1, 1, 0, 0, 0));
    EXPECT_THAT(homes({.n_gpu_layers = 5}, one, 4), ElementsAre(0, 0, 0, 0, 0));
    EXPECT_THAT(homes({.n_gpu_layers = 99}, one, 4), ElementsAre(0, 0, 0, 0, 0));
    EXPECT_FALSE(ModelPlacement({.n_gpu_layers = 4}, one, 4).full_offload());
    EXPECT_TRUE(ModelPlacement({.n_gpu_layers = 5}, one, 4).full_offload());
}

TEST_F(PlacementTest, blas_and_cpu_hold_no_offloaded_layers) {
    EXPECT_THAT(homes({}, {&blas, &registry.cpu()}, 2), ElementsAre(1, 1, 1));
    EXPECT_FALSE(ModelPlacement({}, std::vector<Device*>{&registry.cpu()}, 2).full_offload());
}

TEST_F(PlacementTest, several_devices_share_by_the_split) {
    EXPECT_THAT(homes({.tensor_split = {1, 1}}, two, 3), ElementsAre(0, 0, 1, 1));
    EXPECT_THAT(homes({.tensor_split = {3, 1}}, two, 3), ElementsAre(0, 0, 0, 1));
    EXPECT_THAT(homes({.tensor_split = {0, 1}}, two, 3), ElementsAre(1, 1, 1, 1));
    EXPECT_THAT(homes({.tensor_split = {1}}, two, 3), ElementsAre(0, 0, 0, 0));
    EXPECT_THAT(homes({.n_gpu_layers = 2, .tensor_split = {1, 1}}, two, 3), ElementsAre(2, 2, 0, 1));
}

TEST_F(PlacementTest, without_a_split_memory_decides) {
    first.memory = 3000;
    second.memory = 1000;
    EXPECT_THAT(homes({}, two, 7), ElementsAre(0, 0, 0, 0, 0, 0, 1, 1));
    second.memory = 0; // unknown: equal shares
    EXPECT_THAT(homes({}, two, 7), ElementsAre(0, 0, 0, 0, 1, 1, 1, 1));
}

TEST_F(PlacementTest, overrides_beat_the_layers_home_and_the_first_match_wins) {
    ModelPlacement p({.overrides = {"ffn_.*_exps=cpu", "blk\\.1\\.=VULKAN1"}}, two, 4);
    EXPECT_EQ(p.tensor_home("blk.1.ffn_up_exps.weight", 0), 2);
    EXPECT_EQ(p.tensor_home("blk.1.attn_q.weight", 0), 1);
    EXPECT_EQ(p.tensor_home("blk.2.attn_q.weight", 0), 0);
    ASSERT_EQ(p.overrides().size(), 2U);
    EXPECT_EQ(p.overrides()[0].matched, 1);
    EXPECT_EQ(p.overrides()[1].matched, 1);
    EXPECT_EQ(p.overrides()[1].shadowed, 1);
    EXPECT_EQ(p.overrides()[1].device, "Vulkan1");
}

TEST_F(PlacementTest, what_is_not_understood_is_refused) {
    EXPECT_THAT(refusal({.overrides = {"blk"}}, one), HasSubstr("PATTERN=DEVICE"));
    EXPECT_THAT(refusal({.overrides = {"blk=cuda0"}}, one), HasSubstr("Vulkan0, CPU"));
    EXPECT_THAT(refusal({.overrides = {"(=cpu"}}, one), HasSubstr("regular expression"));
    EXPECT_THAT(refusal({.overrides = {"nothing=cpu"}}, one), HasSubstr("matches no tensor"));
    EXPECT_THAT(refusal({.tensor_split = {1, 2, 3}}, one), HasSubstr("-ts"));
    EXPECT_THAT(refusal({.tensor_split = {-1}}, one), HasSubstr("-ts"));
}

} // namespace
