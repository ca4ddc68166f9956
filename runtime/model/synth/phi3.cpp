#include "runtime/model/synth/synth_model.h"

#include "runtime/numbers.h"

#include <array>
#include <cmath>

/// Phi 3: one matrix for q, k and v, one for gate and up. Stretched by long rope: short contexts have other factors than long
/// ones.
namespace schedscope {

namespace {

constexpr std::array presets{
    SynthPreset{"tiny", "4 layers", {.n_head_kv = 4, .window = 16}},
    SynthPreset{
        "tiny-long", "stretched by 4: factors change beyond 128 tokens", {.n_head_kv = 4, .rope_factor = 4.0F, .window = 16}},
    SynthPreset{"mini",
                "3.8 billion parameters, 32 layers",
                {.n_vocab = 32064,
                 .n_ctx_train = 4096,
                 .n_embd = 3072,
                 .n_layer = 32,
                 .n_ff = 8192,
                 .n_head = 32,
                 .n_head_kv = 32,
                 .window = 2047}},
    SynthPreset{"mini-128k",
                "the same, stretched by 32",
                {.n_vocab = 32064,
                 .n_ctx_train = 131072,
                 .n_embd = 3072,
                 .n_layer = 32,
                 .n_ff = 8192,
                 .n_head = 32,
                 .n_head_kv = 32,
                 .rope_factor = 32.0F,
                 .window = 262144}},
    SynthPreset{"medium",
                "14 billion parameters, 40 layers",
                {.n_vocab = 32064,
                 .n_ctx_train = 4096,
                 .n_embd = 5120,
                 .n_layer = 40,
                 .n_ff = 17920,
                 .n_head = 40,
                 .n_head_kv = 10,
                 .window = 2047}},
};

/// Long contexts divide the angle of the fastest pair by 1, of the slowest by the whole factor; short ones divide nothing.
void long_rope(SynthModel& m) {
    const float factor = m.shape().rope_factor;
    const auto original = to_float(m.shape().n_ctx_train) / factor;
    m.set("rope.scaling.original_context_length", static_cast<uint32_t>(original));
    m.set("rope.scaling.attn_factor", std::sqrt(1.0F + std::log(factor) / std::log(original)));
    const size_t pairs = m.head_length() / 2;
    std::vector<float> factors;
    for (size_t i = 0; i < pairs; ++i) {
        factors.push_back(1.0F + (factor - 1.0F) * to_float(i) / to_float(pairs - 1));
    }
    m.values("rope_factors_long", std::move(factors));
    m.values("rope_factors_short", std::vector<float>(pairs, 1.0F));
}

void make(SynthModel& m) {
    m.keys(NormKind::rms, 1e-5F);
    m.embedding_and_output();
    if (m.shape().rope_factor > 1) {
        long_rope(m);
    }
    m.each_block([&m](const std::string& blk) {
        m.fused_attention(blk);
        m.norm(blk + "ffn_norm");
        m.matrix(blk + "ffn_down", m.shape().n_ff, m.shape().n_embd);
        m.matrix(blk + "ffn_up", m.shape().n_embd, int64_t{2} * m.shape().n_ff);
    });
}

} // namespace

extern const SynthArchitecture synth_phi3;
const SynthArchitecture synth_phi3{"phi3", presets, make};

} // namespace schedscope
