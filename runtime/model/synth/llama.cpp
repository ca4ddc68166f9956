#include "runtime/model/synth/synth_model.h"

#include "runtime/numbers.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

/// LLaMA, Mistral, Vicuna, Yi; with experts Mixtral. Stretched as LLaMA 3.1: the angle of each pair of values is divided by a
/// factor of its own.
namespace schedscope {

namespace {

constexpr std::array presets{
    SynthPreset{"tiny", "0.26 million parameters, 4 layers", {}},
    SynthPreset{"tiny-moe", "4 layers of 4 experts, 2 used", {.n_ff = 96, .n_expert = 4, .n_expert_used = 2}},
    SynthPreset{"110m",
                "110 million parameters, 12 layers",
                {.n_vocab = 32000,
                 .n_ctx_train = 2048,
                 .n_embd = 768,
                 .n_layer = 12,
                 .n_ff = 2048,
                 .n_head = 12,
                 .n_head_kv = 12,
                 .tied = true}},
    SynthPreset{
        "1b",
        "1.1 billion parameters, 22 layers",
        {.n_vocab = 32000, .n_ctx_train = 2048, .n_embd = 2048, .n_layer = 22, .n_ff = 5632, .n_head = 32, .n_head_kv = 4}},
    SynthPreset{
        "7b",
        "6.7 billion parameters, 32 layers",
        {.n_vocab = 32000, .n_ctx_train = 4096, .n_embd = 4096, .n_layer = 32, .n_ff = 11008, .n_head = 32, .n_head_kv = 32}},
    SynthPreset{"8b",
                "LLaMA 3.1: 8 billion parameters, 32 layers",
                {.n_vocab = 128256,
                 .n_ctx_train = 131072,
                 .n_embd = 4096,
                 .n_layer = 32,
                 .n_ff = 14336,
                 .n_head = 32,
                 .n_head_kv = 8,
                 .freq_base = 500000.0F,
                 .rope_factor = 8.0F}},
    SynthPreset{"70b",
                "70 billion parameters, 80 layers",
                {.n_vocab = 128256,
                 .n_ctx_train = 8192,
                 .n_embd = 8192,
                 .n_layer = 80,
                 .n_ff = 28672,
                 .n_head = 64,
                 .n_head_kv = 8,
                 .freq_base = 500000.0F}},
    SynthPreset{"8x7b",
                "Mixtral: 46.7 billion parameters, 32 layers of 8 experts, 2 used",
                {.n_vocab = 32000,
                 .n_ctx_train = 32768,
                 .n_embd = 4096,
                 .n_layer = 32,
                 .n_ff = 14336,
                 .n_head = 32,
                 .n_head_kv = 8,
                 .n_expert = 8,
                 .n_expert_used = 2,
                 .freq_base = 1e6F}},
};

/// As Meta's LLaMA 3.1 has them: short waves are left alone, waves longer than the original context are stretched, those between
/// by degrees.
std::vector<float> rope_factors(const SynthShape& s, int32_t n_dims) {
    constexpr double original = 8192, low = 1, high = 4; // context, and the waves in it where the degrees begin and end
    std::vector<float> factors;
    for (int32_t i = 0; i < n_dims; i += 2) {
        const double wave = 2 * std::numbers::pi * std::pow(s.freq_base, to_double(i) / n_dims);
        const double degree = std::clamp((original / wave - low) / (high - low), 0.0, 1.0); // 1: left alone
        factors.push_back(to_float(1 / ((1 - degree) / s.rope_factor + degree)));
    }
    return factors;
}

void make(SynthModel& m) {
    m.keys(NormKind::rms, 1e-5F);
    m.embedding_and_output();
    if (m.shape().rope_factor > 1) {
        m.values("rope_freqs", rope_factors(m.shape(), m.head_length()));
    }
    m.each_block([&m](const std::string& blk) {
        m.attention(blk);
        m.shape().n_expert > 0 ? m.experts(blk) : m.gated_feed_forward(blk);
    });
}

} // namespace

extern const SynthArchitecture synth_llama;
const SynthArchitecture synth_llama{"llama", presets, make};

} // namespace schedscope
