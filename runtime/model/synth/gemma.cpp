#include "runtime/model/synth/synth_model.h"

#include <array>

/// Gemma: heads longer than width / heads, the output always tied to the embedding.
namespace schedscope {

namespace {

constexpr std::array presets{
    SynthPreset{"tiny", "4 layers", {.n_head_kv = 1, .head_length = 32, .tied = true}},
    SynthPreset{"2b",
                "2.5 billion parameters, 18 layers",
                {.n_vocab = 256000,
                 .n_ctx_train = 8192,
                 .n_embd = 2048,
                 .n_layer = 18,
                 .n_ff = 16384,
                 .n_head = 8,
                 .n_head_kv = 1,
                 .head_length = 256,
                 .tied = true}},
    SynthPreset{"7b",
                "8.5 billion parameters, 28 layers",
                {.n_vocab = 256000,
                 .n_ctx_train = 8192,
                 .n_embd = 3072,
                 .n_layer = 28,
                 .n_ff = 24576,
                 .n_head = 16,
                 .n_head_kv = 16,
                 .head_length = 256,
                 .tied = true}},
};

void make(SynthModel& m) {
    m.keys(NormKind::rms, 1e-6F);
    m.embedding_and_output();
    m.each_block([&m](const std::string& blk) {
        m.attention(blk);
        m.gated_feed_forward(blk);
    });
}

} // namespace

extern const SynthArchitecture synth_gemma;
const SynthArchitecture synth_gemma{"gemma", presets, make};

} // namespace schedscope
