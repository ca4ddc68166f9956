#include "runtime/model/synth/synth_model.h"

#include <array>

/// Gemma 3: as Gemma 2 without caps, a norm of each head of q and k; five layers slide, the sixth does not, and only its rope is
/// stretched.
namespace schedscope {

namespace {

constexpr std::array presets{
    SynthPreset{"tiny",
                "7 layers, six of which see 16 tokens",
                {.n_layer = 7, .head_length = 32, .tied = true, .freq_base = 1e6F, .rope_factor = 8.0F, .window = 16}},
    SynthPreset{"1b",
                "1 billion parameters, 26 layers",
                {.n_vocab = 262144,
                 .n_ctx_train = 32768,
                 .n_embd = 1152,
                 .n_layer = 26,
                 .n_ff = 6912,
                 .n_head = 4,
                 .n_head_kv = 1,
                 .head_length = 256,
                 .tied = true,
                 .freq_base = 1e6F,
                 .window = 512}},
    SynthPreset{"4b",
                "3.9 billion parameters, 34 layers",
                {.n_vocab = 262208,
                 .n_ctx_train = 131072,
                 .n_embd = 2560,
                 .n_layer = 34,
                 .n_ff = 10240,
                 .n_head = 8,
                 .n_head_kv = 4,
                 .head_length = 256,
                 .tied = true,
                 .freq_base = 1e6F,
                 .rope_factor = 8.0F,
                 .window = 1024}},
    SynthPreset{"27b",
                "27 billion parameters, 62 layers",
                {.n_vocab = 262208,
                 .n_ctx_train = 131072,
                 .n_embd = 5376,
                 .n_layer = 62,
                 .n_ff = 21504,
                 .n_head = 32,
                 .n_head_kv = 16,
                 .head_length = 128,
                 .tied = true,
                 .freq_base = 1e6F,
                 .rope_factor = 8.0F,
                 .window = 1024}},
};

void make(SynthModel& m) {
    m.keys(NormKind::rms, 1e-6F);
    if (m.shape().rope_factor > 1) {
        m.set("rope.scaling.type", "linear");
        m.set("rope.scaling.factor", m.shape().rope_factor);
    }
    m.embedding_and_output();
    m.each_block([&m](const std::string& blk) {
        m.attention(blk);
        m.head_norms(blk);
        m.gated_feed_forward(blk);
        m.post_norms(blk);
    });
}

} // namespace

extern const SynthArchitecture synth_gemma3;
const SynthArchitecture synth_gemma3{"gemma3", presets, make};

} // namespace schedscope
