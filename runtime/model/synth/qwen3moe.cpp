#include "runtime/model/synth/synth_model.h"

#include <array>

/// Qwen 3 with experts in every block.
namespace schedscope {

namespace {

constexpr std::array presets{
    SynthPreset{"tiny",
                "4 layers of 8 experts, 2 used",
                {.head_length = 32, .n_expert = 8, .n_expert_used = 2, .n_ff_expert = 32, .freq_base = 1e6F}},
    SynthPreset{"30b-a3b",
                "30.5 billion parameters, 48 layers of 128 experts, 8 used",
                {.n_vocab = 151936,
                 .n_ctx_train = 40960,
                 .n_embd = 2048,
                 .n_layer = 48,
                 .n_ff = 6144,
                 .n_head = 32,
                 .n_head_kv = 4,
                 .head_length = 128,
                 .n_expert = 128,
                 .n_expert_used = 8,
                 .n_ff_expert = 768,
                 .freq_base = 1e6F}},
    SynthPreset{"235b-a22b",
                "235 billion parameters, 94 layers of 128 experts, 8 used",
                {.n_vocab = 151936,
                 .n_ctx_train = 40960,
                 .n_embd = 4096,
                 .n_layer = 94,
                 .n_ff = 12288,
                 .n_head = 64,
                 .n_head_kv = 4,
                 .head_length = 128,
                 .n_expert = 128,
                 .n_expert_used = 8,
                 .n_ff_expert = 1536,
                 .freq_base = 1e6F}},
};

void make(SynthModel& m) {
    m.keys(NormKind::rms, 1e-6F);
    m.embedding_and_output();
    m.each_block([&m](const std::string& blk) {
        m.attention(blk);
        m.head_norms(blk);
        m.experts(blk);
    });
}

} // namespace

extern const SynthArchitecture synth_qwen3moe;
const SynthArchitecture synth_qwen3moe{"qwen3moe", presets, make};

} // namespace schedscope
