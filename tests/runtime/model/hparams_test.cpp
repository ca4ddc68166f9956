#include "tests/support/models/made_model.h"

#include "runtime/model/hparams.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

using namespace schedscope;
using namespace schedscope::test;
using ::testing::AllOf;
using ::testing::HasSubstr;

namespace {

Hparams read(const std::function<void(gguf::Writer&)>& change) { return read_hparams(*changed_model(change)); }

std::string refusal(const std::function<void(gguf::Writer&)>& change) {
    return sentence_of(ErrorKind::input, [&] { read(change); });
}

TEST(Hparams, sizes_come_from_the_file_and_the_rest_has_defaults) {
    const Hparams h = read([](gguf::Writer&) {});
    EXPECT_EQ(h.architecture, "llama");
    EXPECT_EQ(h.n_vocab, 320);
    EXPECT_EQ(h.n_embd, 64);
    EXPECT_EQ(h.n_layer, 3);
    EXPECT_EQ(h.n_head, 4);
    EXPECT_EQ(h.n_head_kv, 2);
    EXPECT_EQ(h.head_length_k, 16);
    EXPECT_EQ(h.head_length_v, 16);
    EXPECT_EQ(h.rope.n_dims, 16);
    EXPECT_EQ(h.rope.freq_base, 10000.0F);
    EXPECT_EQ(h.rope.scaling, RopeScaling::none);
    EXPECT_FLOAT_EQ(h.attention_scale, 0.25F);
}

TEST(Hparams, heads_may_be_longer_than_the_width_allows) {
    const Hparams h = read([](gguf::Writer& w) {
        w.set("llama.attention.key_length", uint32_t{32});
        w.set("llama.attention.value_length", uint32_t{24});
        w.set("llama.rope.dimension_count", uint32_t{32});
    });
    EXPECT_EQ(h.n_embd_q(), 128);
    EXPECT_EQ(h.n_embd_k(), 64);
    EXPECT_EQ(h.n_embd_v(), 48);
    EXPECT_EQ(h.rope.n_dims, 32);
}

TEST(Hparams, rope_scaling_is_read) {
    const Hparams linear = read([](gguf::Writer& w) {
        w.set("llama.rope.scaling.type", "linear");
        w.set("llama.rope.scaling.factor", 4.0F);
    });
    EXPECT_EQ(linear.rope.scaling, RopeScaling::linear);
    EXPECT_EQ(linear.rope.factor, 4.0F);
    const Hparams unnamed = read([](gguf::Writer& w) { w.set("llama.rope.scaling.factor", 4.0F); });
    EXPECT_EQ(unnamed.rope.scaling, RopeScaling::linear);
    EXPECT_EQ(unnamed.rope.factor, 4.0F);
    const Hparams none = read([](gguf::Writer& w) {
        w.set("llama.rope.scaling.type", "none");
        w.set("llama.rope.scaling.factor", 4.0F);
    });
    EXPECT_EQ(none.rope.scaling, RopeScaling::none);
    const Hparams yarn = read([](gguf::Writer& w) {
        w.set("llama.rope.scaling.type", "yarn");
        w.set("llama.rope.scaling.factor", 8.0F);
        w.set("llama.rope.scaling.original_context_length", uint32_t{64});
    });
    EXPECT_EQ(yarn.rope.scaling, RopeScaling::yarn);
    EXPECT_EQ(yarn.rope.n_ctx_original, 64);
}

TEST(Hparams, what_is_impossible_is_refused_with_its_key) {
    const auto set = [](const char* key, uint32_t v) { return [=](gguf::Writer& w) { w.set(std::string("llama.") + key, v); }; };
    EXPECT_THAT(refusal(set("block_count", 0)), AllOf(HasSubstr("made.gguf"), HasSubstr("llama.block_count")));
    EXPECT_THAT(refusal(set("block_count", 1000000)), HasSubstr("llama.block_count"));
    EXPECT_THAT(refusal(set("embedding_length", 0xFFFFFFFF)), HasSubstr("llama.embedding_length"));
    EXPECT_THAT(refusal(set("attention.head_count", 7)), HasSubstr("llama.attention.head_count"));
    EXPECT_THAT(refusal(set("attention.head_count_kv", 3)), HasSubstr("llama.attention.head_count_kv"));
    EXPECT_THAT(refusal(set("attention.head_count", 0)), HasSubstr("llama.attention.head_count"));
    EXPECT_THAT(refusal([](gguf::Writer& w) {
                    w.set("llama.attention.head_count", uint32_t{1} << 16);
                    w.set("llama.attention.head_count_kv", uint32_t{1} << 16);
                    w.set("llama.attention.key_length", uint32_t{1} << 16);
                }),
                HasSubstr("llama.attention.head_count can't be 65536 with heads of 65536"));
    EXPECT_THAT(refusal([](gguf::Writer& w) { w.set("llama.attention.layer_norm_rms_epsilon", -1e-5F); }),
                HasSubstr("llama.attention.layer_norm_rms_epsilon can't be negative"));
    EXPECT_THAT(refusal(set("rope.dimension_count", 17)), HasSubstr("llama.rope.dimension_count"));
    EXPECT_THAT(refusal(set("rope.dimension_count", 64)), HasSubstr("llama.rope.dimension_count"));
    EXPECT_THAT(refusal(set("expert_count", 4)), HasSubstr("llama.expert_used_count"));
    EXPECT_THAT(refusal([](gguf::Writer& w) { w.set("llama.rope.scaling.type", "spiral"); }), HasSubstr("spiral"));
    EXPECT_THAT(refusal([](gguf::Writer& w) { w.set("llama.rope.freq_base", std::nanf("")); }),
                HasSubstr("llama.rope.freq_base"));
    EXPECT_THAT(refusal([](gguf::Writer& w) { w.set("llama.context_length", "long"); }), HasSubstr("llama.context_length"));
}

} // namespace
