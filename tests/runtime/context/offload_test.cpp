#include "tests/support/models/reference.h"

#include "tests/support/models/made_model.h"

#include <gtest/gtest.h>

using namespace schedscope;
using namespace schedscope::test;

namespace {

/// A prompt long enough that host weights are copied to the device for it.
std::vector<int32_t> long_prompt() {
    std::vector<int32_t> ids{1};
    for (int32_t i = 1; i < 40; ++i) {
        ids.push_back(260 + i * 7 % 60);
    }
    return ids;
}

struct Offload : ::testing::TestWithParam<int> {
    RunOptions on(const char* devices) const {
        RunOptions o = greedy_options("made");
        o.devices = devices;
        o.n_gpu_layers = GetParam();
        o.cache_type_k = o.cache_type_v = Type::F32;
        return o;
    }
    /// The largest difference between the CPU's logits and those of both devices, by the largest logit.
    float difference(const std::shared_ptr<gguf::File>& file, const RunOptions& options) const {
        Session cpu(registry, file, on("cpu"));
        Session both(registry, file, options);
        const std::vector<float> expected = all_logits(cpu, long_prompt());
        return largest_difference(all_logits(both, long_prompt()), expected) / largest(expected);
    }
    Registry registry;
};

TEST_P(Offload, long_prompts_have_the_same_logits) {
    NEEDS_DEVICES(registry, "vulkan0");
    EXPECT_LT(difference(made_model(), on("vulkan0,cpu")), 1e-3F);
    RunOptions plain = on("vulkan0,cpu");
    plain.flash_attention = FlashAttention::off;
    EXPECT_LT(difference(made_model(), plain), 1e-3F);
}

TEST_P(Offload, experts_that_are_copied_when_used_give_the_same_logits) {
    NEEDS_DEVICES(registry, "vulkan0");
    SynthShape shape = small_shape();
    shape.n_expert = 4;
    shape.n_expert_used = 2;
    EXPECT_LT(difference(made_model(shape), on("vulkan0,cpu")), 1e-3F);
}

TEST_P(Offload, a_cache_on_the_host_gives_the_same_logits) {
    NEEDS_DEVICES(registry, "vulkan0");
    RunOptions o = on("vulkan0,cpu");
    o.cache_on_host = true;
    EXPECT_LT(difference(made_model(), o), 1e-3F);
}

TEST_P(Offload, stages_of_a_pipeline_give_the_same_logits) {
    NEEDS_DEVICES(registry, "vulkan0");
    RunOptions o = on("vulkan0,cpu");
    o.stages = 4;
    o.n_ubatch = 7;
    EXPECT_LT(difference(made_model(), o), 1e-3F);
}

TEST_P(Offload, overridden_tensors_give_the_same_logits) {
    NEEDS_DEVICES(registry, "vulkan0");
    RunOptions o = on("vulkan0,cpu");
    o.overrides = {"blk\\.[01]\\.ffn_(up|gate)=cpu", "blk\\.0\\.attn_q=vulkan0"};
    EXPECT_LT(difference(made_model(), o), 1e-3F);
}

TEST_P(Offload, keys_on_a_device_are_turned_when_the_context_shifts) {
    NEEDS_DEVICES(registry, "vulkan0");
    const auto shifted = [&](const char* devices) {
        RunOptions o = on(devices);
        Session session(registry, made_model(), o);
        Batch batch;
        const std::vector<int32_t> prompt = long_prompt();
        for (int32_t i = 0; i < 20; ++i) {
            batch.add(prompt[static_cast<size_t>(i)], i + 5, only_sequence(0), false);
        }
        session.context().decode(batch);
        session.context().cells().shift(0, 0, -1, -5);
        batch.clear();
        batch.add(300, 20, only_sequence(0), true);
        session.context().decode(batch);
        const auto row = session.context().logits(0);
        return std::vector<float>(row.begin(), row.end());
    };
    const std::vector<float> expected = shifted("cpu");
    EXPECT_LT(largest_difference(shifted("vulkan0,cpu"), expected), 1e-3F * largest(expected));
}

INSTANTIATE_TEST_SUITE_P(made, Offload, ::testing::Values(0, 1, 2, 4),
                         [](const auto& info) { return "ngl" + std::to_string(info.param); });

TEST(Devices, the_same_one_twice_is_two_of_them) {
    Registry registry;
    NEEDS_DEVICES(registry, "vulkan0");
    RunOptions o = greedy_options("made");
    o.devices = "vulkan0,vulkan0,cpu";
    o.tensor_split = {1, 1};
    Session session(registry, made_model(), o);
    ASSERT_EQ(session.backends().size(), 3U);
    EXPECT_EQ(session.backends()[0]->name(), "Vulkan0");
    EXPECT_EQ(session.backends()[1]->name(), "Vulkan0.1");
    EXPECT_NE(&session.backends()[0]->device(), &session.backends()[1]->device());
    std::map<std::string, int64_t> weights; // bytes by memory
    for (const auto& buffer : session.model().loaded().buffers) {
        weights[std::string(buffer->type().name())] += static_cast<int64_t>(buffer->size());
    }
    EXPECT_GT(weights["Vulkan0"], 0);
    EXPECT_GT(weights["Vulkan0.1"], 0);
    const std::vector<Token> tokens = generate_one(session, {1, 300}, 5).tokens;
    o.devices = "cpu";
    Session host(registry, made_model(), o);
    EXPECT_EQ(tokens, generate_one(host, {1, 300}, 5).tokens);
}

TEST(Devices, of_the_host_are_backends_of_one_memory) {
    Registry registry;
    NEEDS_DEVICES(registry, "blas");
    RunOptions o = greedy_options("made");
    o.devices = "blas,blas,cpu";
    Session session(registry, made_model(), o);
    EXPECT_EQ(session.backends()[1]->name(), "BLAS.1");
    EXPECT_EQ(&session.backends()[0]->device(), &session.backends()[1]->device());
}

TEST(Devices, named_again_are_the_same_each_time) {
    const Registry registry;
    NEEDS_DEVICES(registry, "vulkan0");
    const auto one = registry.select("vulkan0,vulkan0,vulkan0"), two = registry.select("Vulkan0,vulkan0");
    ASSERT_EQ(one.size(), 4U);
    EXPECT_EQ(one[2]->name(), "Vulkan0.2");
    EXPECT_EQ(one[0], two[0]);
    EXPECT_EQ(one[1], two[1]);
    std::vector<std::unique_ptr<Device>> described;
    const auto made = registry.select("big=vulkan:1GiB,big,vulkan0", described);
    ASSERT_EQ(made.size(), 4U);
    EXPECT_EQ(made[1]->name(), "big.1");
    EXPECT_NE(&made[0]->buffer_type(), &made[1]->buffer_type());
    EXPECT_EQ(made[2], one[0]);
    described.clear();
    EXPECT_EQ(registry.select("vulkan7=vulkan:1GiB", described)[0]->name(), "Vulkan7") << "as it would be called if it were here";
}

} // namespace
