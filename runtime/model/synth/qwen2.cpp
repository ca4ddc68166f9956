#include "runtime/model/synth/synth_model.h"

#include <array>

/// Qwen 2 and 2.5: biases on q, k and v.
namespace schedscope {

namespace {

constexpr std::array presets{
    SynthPreset{"tiny", "4 layers", {.freq_base = 1e6F}},
    SynthPreset{"0.5b",
                "494 million parameters, 24 layers",
                {.n_vocab = 151936,
                 .n_ctx_train = 32768,
                 .n_embd = 896,
                 .n_layer = 24,
                 .n_ff = 4864,
                 .n_head = 14,
                 .n_head_kv = 2,
                 .tied = true,
                 .freq_base = 1e6F}},
    SynthPreset{"7b",
                "7.6 billion parameters, 28 layers",
                {.n_vocab = 152064,
                 .n_ctx_train = 32768,
                 .n_embd = 3584,
                 .n_layer = 28,
                 .n_ff = 18944,
                 .n_head = 28,
                 .n_head_kv = 4,
                 .freq_base = 1e6F}},
};

void make(SynthModel& m) {
    m.keys(NormKind::rms, 1e-6F);
    m.embedding_and_output();
    m.each_block([&m](const std::string& blk) {
        m.attention(blk);
        m.bias(blk + "attn_q", m.n_embd_q());
        m.bias(blk + "attn_k", m.n_embd_kv());
        m.bias(blk + "attn_v", m.n_embd_kv());
        m.gated_feed_forward(blk);
    });
}

} // namespace

extern const SynthArchitecture synth_qwen2;
const SynthArchitecture synth_qwen2{"qwen2", presets, make};

} // namespace schedscope
