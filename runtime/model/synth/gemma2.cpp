#include "runtime/model/synth/synth_model.h"

#include <array>

/// Gemma 2: norms behind each half of a block, caps on scores and logits, every other layer slides.
namespace schedscope {

namespace {

constexpr std::array presets{
    SynthPreset{"tiny", "4 layers, two of which see 16 tokens", {.head_length = 32, .tied = true, .window = 16}},
    SynthPreset{"2b",
                "2.6 billion parameters, 26 layers",
                {.n_vocab = 256000,
                 .n_ctx_train = 8192,
                 .n_embd = 2304,
                 .n_layer = 26,
                 .n_ff = 9216,
                 .n_head = 8,
                 .n_head_kv = 4,
                 .head_length = 256,
                 .tied = true,
                 .window = 4096}},
    SynthPreset{"9b",
                "9.2 billion parameters, 42 layers",
                {.n_vocab = 256000,
                 .n_ctx_train = 8192,
                 .n_embd = 3584,
                 .n_layer = 42,
                 .n_ff = 14336,
                 .n_head = 16,
                 .n_head_kv = 8,
                 .head_length = 256,
                 .tied = true,
                 .window = 4096}},
    SynthPreset{"27b",
                "27 billion parameters, 46 layers",
                {.n_vocab = 256000,
                 .n_ctx_train = 8192,
                 .n_embd = 4608,
                 .n_layer = 46,
                 .n_ff = 36864,
                 .n_head = 32,
                 .n_head_kv = 16,
                 .head_length = 128,
                 .tied = true,
                 .window = 4096}},
};

void make(SynthModel& m) {
    m.keys(NormKind::rms, 1e-6F);
    m.set("attn_logit_softcapping", 50.0F);
    m.set("final_logit_softcapping", 30.0F);
    m.embedding_and_output();
    m.each_block([&m](const std::string& blk) {
        m.attention(blk);
        m.gated_feed_forward(blk);
        m.post_norms(blk);
    });
}

} // namespace

extern const SynthArchitecture synth_gemma2;
const SynthArchitecture synth_gemma2{"gemma2", presets, make};

} // namespace schedscope
