// Every architecture against its published description, computed again in double precision (plain_forward.cpp).
#include "runtime/model/architecture.h"
#include "runtime/model/synth/synth.h"
#include "runtime/ops/params.h"
#include "tests/support/models/reference.h"
#include "tests/support/plain/plain_model.h"
#include "tests/support/traces/notebook.h"

#include <gmock/gmock.h>

#include <set>
#include <string>

using namespace schedscope;
using namespace schedscope::test;

namespace {

constexpr float tolerance = 1e-4F; // of the largest logit
constexpr int n_ctx = 512;

const std::vector<int32_t> tokens{1,  260, 17,  301, 45, 99,  260, 260, 130, 7,   222, 315,
                                  64, 18,  280, 33,  5,  199, 260, 71,  12,  308, 90,  41};
const std::vector<std::vector<int32_t>> three{
    {1, 260, 17, 301, 45, 99, 260, 12, 7}, {1, 44, 44, 202}, {300, 8, 131, 131, 54, 260, 77}};

std::vector<float> truth_of(const PlainModel& model, const std::vector<int32_t>& ids, int ctx = n_ctx) {
    const std::vector<double> logits = plain_logits(model, ids, ctx);
    return {logits.begin(), logits.end()};
}

RunOptions options_on(const std::string& devices, int32_t n_gpu_layers) {
    RunOptions o = greedy_options("made");
    o.devices = devices;
    o.n_gpu_layers = n_gpu_layers;
    o.cache_type_k = o.cache_type_v = Type::F32;
    o.n_ctx = n_ctx;
    return o;
}

/// Rows of logits of the last decode.
std::vector<float> rows_of(InferenceContext& context) {
    std::vector<float> rows;
    for (int32_t i = 0; i < context.n_outputs(); ++i) {
        const auto row = context.logits(i);
        rows.insert(rows.end(), row.begin(), row.end());
    }
    return rows;
}

class Families : public ::testing::TestWithParam<const char*> {
protected:
    const PlainModel model = random_model(GetParam(), 7);
    Registry registry;

    void expect_truth(const std::vector<float>& logits, const std::vector<float>& truth, const std::string& how) const {
        EXPECT_LT(largest_difference(logits, truth), tolerance * largest(truth)) << how;
    }
};

TEST_P(Families, a_prompt_has_the_logits_of_the_description_however_it_is_cut) {
    const std::vector<float> truth = truth_of(model, tokens);
    ASSERT_GT(largest(truth), 0.5F);
    for (const FlashAttention flash : {FlashAttention::off, FlashAttention::on}) {
        for (const int32_t n_ubatch : {1, 7, 512}) {
            RunOptions o = options_on("cpu", 0);
            o.flash_attention = flash;
            o.n_ubatch = n_ubatch;
            Session session(registry, model.file(), o);
            expect_truth(all_logits(session, tokens), truth, "ubatches of " + std::to_string(n_ubatch));
        }
    }
}

TEST_P(Families, tokens_after_the_prompt_go_on_from_it) {
    const std::vector<float> truth = truth_of(model, tokens);
    Session session(registry, model.file(), options_on("cpu", 0));
    std::vector<float> logits = all_logits(session, {tokens.begin(), tokens.begin() + 10});
    for (int32_t i = 10; i < static_cast<int32_t>(tokens.size()); ++i) {
        Batch batch;
        batch.add(tokens[static_cast<size_t>(i)], i, only_sequence(0), true);
        session.context().decode(batch);
        const std::vector<float> row = rows_of(session.context());
        logits.insert(logits.end(), row.begin(), row.end());
    }
    expect_truth(logits, truth, "one by one");
}

TEST_P(Families, sequences_in_one_batch_do_not_see_each_other) {
    for (const int32_t n_ubatch : {1, 7, 512}) {
        RunOptions o = options_on("cpu", 0);
        o.n_ubatch = n_ubatch;
        Session session(registry, model.file(), o);
        Batch batch;
        std::vector<float> truth;
        for (size_t s = 0; s < three.size(); ++s) {
            for (size_t i = 0; i < three[s].size(); ++i) {
                batch.add(three[s][i], static_cast<int32_t>(i), only_sequence(static_cast<int32_t>(s)), true);
            }
            const std::vector<float> own = truth_of(model, three[s]);
            truth.insert(truth.end(), own.begin(), own.end());
        }
        session.context().decode(batch);
        expect_truth(rows_of(session.context()), truth, "ubatches of " + std::to_string(n_ubatch));
    }
}

TEST_P(Families, layers_on_a_device_compute_the_same) {
    NEEDS_DEVICES(registry, "vulkan0");
    const std::vector<float> truth = truth_of(model, tokens);
    for (const FlashAttention flash : {FlashAttention::off, FlashAttention::on}) {
        for (const int32_t layers : {2, 99}) {
            RunOptions o = options_on("vulkan0,cpu", layers);
            o.flash_attention = flash;
            Session session(registry, model.file(), o);
            expect_truth(all_logits(session, tokens), truth, "-ngl " + std::to_string(layers));
        }
    }
}

/// The precisions that a graph's attention asks for.
class AttentionPrecisions final : public Notebook {
public:
    void graph(GraphId, const GraphView& graph, const CapabilityTable&) override {
        for (const TensorId id : graph.nodes) {
            const TensorInfo& t = graph.tensors[static_cast<size_t>(id)];
            if (t.op == Op::FLASH_ATTN_EXT) {
                found.insert(params_of<Op::FLASH_ATTN_EXT>(*t.params).precision);
            } else if (t.op == Op::MUL_MAT && t.name.starts_with("kq-")) {
                found.insert(params_of<Op::MUL_MAT>(*t.params).precision);
            }
        }
    }
    std::set<int32_t> found;
};

TEST_P(Families, attention_asks_for_full_floats_by_the_number_of_ggml) {
    for (const FlashAttention flash : {FlashAttention::off, FlashAttention::on}) {
        RunOptions o = options_on("cpu", 0);
        o.flash_attention = flash;
        AttentionPrecisions precisions;
        Session session(registry, model.file(), o, &precisions);
        all_logits(session, tokens);
        EXPECT_EQ(precisions.found, std::set<int32_t>{10});
    }
}

/// What random_model makes: ARCHITECTURE, or ARCHITECTURE-WHAT of another kind of it.
constexpr const char* kinds[] = {"llama",      "llama-yarn", "llama-linear", "llama-factors", "llama-experts", "qwen2",
                                 "qwen2-yarn", "qwen3",      "qwen3moe",     "falcon",        "falcon-40b",    "phi3",
                                 "phi3-long",  "gemma",      "gemma2",       "gemma3",        "gemma3-output"};

TEST(Kinds, there_is_one_of_every_architecture) {
    for (const Architecture* a : architectures()) {
        EXPECT_THAT(kinds, ::testing::Contains(::testing::StrEq(std::string(a->name)))) << "add it to the kinds";
    }
}

/// Names of a block's weights.
std::set<std::string> weights_of_a_block(const gguf::File& file) {
    std::set<std::string> names;
    for (const auto& t : file.tensors()) {
        if (t.name.starts_with("blk.0.")) {
            names.emplace(t.name);
        }
    }
    return names;
}

TEST(Kinds, are_made_of_the_weights_that_synth_makes) {
    for (const Architecture* a : architectures()) {
        const std::string name(a->name);
        const gguf::File made = synthesise_in_memory(synth_preset(name, "tiny"), Type::F32, 1, name);
        EXPECT_EQ(weights_of_a_block(made), weights_of_a_block(*random_model(name, 7).file())) << name;
    }
}

INSTANTIATE_TEST_SUITE_P(Kinds, Families, ::testing::ValuesIn(kinds), [](const auto& info) {
    std::string name = info.param;
    std::replace(name.begin(), name.end(), '-', '_');
    return name;
});

TEST(LongRope, has_factors_of_their_own_beyond_the_original_context) {
    const PlainModel model = random_model("phi3-long", 7);
    Registry registry;
    for (const int ctx : {200, 256, 300}) { // the original is 256
        RunOptions o = options_on("cpu", 0);
        o.n_ctx = ctx;
        Session session(registry, model.file(), o);
        const std::vector<float> truth = truth_of(model, tokens, ctx);
        EXPECT_LT(largest_difference(all_logits(session, tokens), truth), tolerance * largest(truth)) << ctx;
    }
    EXPECT_GT(largest_difference(truth_of(model, tokens, 256), truth_of(model, tokens, 257)), 1e-2F);
}

} // namespace
