#include "runtime/model/synth/synth_model.h"

#include <array>

/// Qwen 3: a norm of each head of q and k, heads longer than width / heads.
namespace schedscope {

namespace {

constexpr std::array presets{
    SynthPreset{"tiny", "4 layers", {.head_length = 32, .freq_base = 1e6F}},
    SynthPreset{"0.6b",
                "596 million parameters, 28 layers",
                {.n_vocab = 151936,
                 .n_ctx_train = 40960,
                 .n_embd = 1024,
                 .n_layer = 28,
                 .n_ff = 3072,
                 .n_head = 16,
                 .n_head_kv = 8,
                 .head_length = 128,
                 .tied = true,
                 .freq_base = 1e6F}},
    SynthPreset{"8b",
                "8.2 billion parameters, 36 layers",
                {.n_vocab = 151936,
                 .n_ctx_train = 40960,
                 .n_embd = 4096,
                 .n_layer = 36,
                 .n_ff = 12288,
                 .n_head = 32,
                 .n_head_kv = 8,
                 .head_length = 128,
                 .freq_base = 1e6F}},
};

void make(SynthModel& m) {
    m.keys(NormKind::rms, 1e-6F);
    m.embedding_and_output();
    m.each_block([&m](const std::string& blk) {
        m.attention(blk);
        m.head_norms(blk);
        m.gated_feed_forward(blk);
    });
}

} // namespace

extern const SynthArchitecture synth_qwen3;
const SynthArchitecture synth_qwen3{"qwen3", presets, make};

} // namespace schedscope
