#include "tests/support/models/made_model.h"
#include "tests/support/models/reference.h"

#include <gtest/gtest.h>

using namespace schedscope;
using namespace schedscope::test;

namespace {

class Arch : public ::testing::TestWithParam<const char*> {
protected:
    std::string dir() const { return shared + "/models/arch/" + GetParam(); }
    RunOptions options() const {
        RunOptions o = greedy_options(dir() + "/model.gguf");
        o.cache_type_k = o.cache_type_v = Type::F32;
        return o;
    }
    /// ggml looks GELU up in a table of half precision.
    float reference_is_off_by() const {
        const std::string name = GetParam();
        return name.starts_with("falcon") || name.starts_with("gemma") ? 1e-3F : 1e-4F;
    }
    Registry registry;
};

TEST_P(Arch, has_the_logits_of_two_independent_computations) {
    NEEDS(dir());
    const std::vector<float> truth = read_floats(dir() + "/ref_f64.f32");
    const std::vector<float> reference = read_floats(dir() + "/logits.f32");
    for (const FlashAttention flash : {FlashAttention::off, FlashAttention::on}) {
        RunOptions o = options();
        o.flash_attention = flash;
        Session session(registry, o);
        const std::vector<float> logits = all_logits(session, read_ids(dir() + "/tokens.txt"));
        EXPECT_LT(largest_difference(logits, truth), 1e-4F * largest(truth));
        EXPECT_LT(largest_difference(logits, reference), reference_is_off_by() * largest(truth));
    }
}

TEST_P(Arch, goes_on_with_the_same_tokens) {
    NEEDS(dir());
    Session session(registry, options());
    EXPECT_EQ(generate_one(session, read_ids(dir() + "/tokens.txt"), 16).tokens, read_ids(dir() + "/greedy.txt"));
}

INSTANTIATE_TEST_SUITE_P(tiny, Arch,
                         ::testing::Values("llama", "llama-rope-llama3", "llama-moe", "qwen2", "falcon7b", "gemma2-default-caps"),
                         [](const auto& info) {
                             std::string name = info.param;
                             std::replace(name.begin(), name.end(), '-', '_');
                             return name;
                         });

/// Logits of tokens at every `step`-th position.
std::vector<float> logits_at(const std::shared_ptr<gguf::File>& file, int32_t step) {
    Registry registry;
    RunOptions o = greedy_options("made");
    o.cache_type_k = o.cache_type_v = Type::F32;
    Session session(registry, file, o);
    Batch batch;
    for (int32_t i = 0; i < 12; ++i) {
        batch.add(300 + i, i * step, only_sequence(0), true);
    }
    session.context().decode(batch);
    std::vector<float> rows;
    for (int32_t i = 0; i < 12; ++i) {
        const auto row = session.context().logits(i);
        rows.insert(rows.end(), row.begin(), row.end());
    }
    return rows;
}

TEST(RopeScaling, linear_brings_positions_together) {
    const auto scaled = changed_model([](gguf::Writer& w) {
        w.set("llama.rope.scaling.type", "linear");
        w.set("llama.rope.scaling.factor", 4.0F);
    });
    EXPECT_LT(largest_difference(logits_at(scaled, 4), logits_at(made_model(), 1)), 1e-4F);
    EXPECT_GT(largest_difference(logits_at(scaled, 1), logits_at(made_model(), 1)), 1e-2F);
}

TEST(RopeScaling, yarn_stretches_by_its_factor) {
    const auto yarn = [](uint32_t original, float factor) {
        return changed_model([=](gguf::Writer& w) {
            w.set("llama.rope.scaling.type", "yarn");
            w.set("llama.rope.scaling.factor", factor);
            w.set("llama.rope.scaling.original_context_length", original);
        });
    };
    // A factor of 1 changes nothing.
    EXPECT_LT(largest_difference(logits_at(yarn(512, 1.0F), 1), logits_at(made_model(), 1)), 1e-4F);
    EXPECT_GT(largest_difference(logits_at(yarn(512, 8.0F), 1), logits_at(made_model(), 1)), 1e-2F);
}

TEST(RopeScaling, frequency_factors_divide_the_angles) {
    // Equal factors for all pairs are the same as linear scaling.
    const auto factors = changed_model([](gguf::Writer& w) {
        w.add("rope_freqs.weight", {8, 1, 1, 1}, std::vector<float>(8, 4.0F));
    });
    EXPECT_LT(largest_difference(logits_at(factors, 4), logits_at(made_model(), 1)), 1e-4F);
}

} // namespace
