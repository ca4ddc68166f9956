#include "runtime/model/synth/synth_model.h"

#include <array>

/// Falcon: layer norms with biases, one matrix for q, k and v, no gate; the 40B kind has a second norm.
namespace schedscope {

namespace {

constexpr std::array presets{
    SynthPreset{"tiny", "as the 7B: 4 layers, one head of k and v", {.n_ff = 256, .n_head_kv = 1}},
    SynthPreset{"tiny-40b", "as the 40B: a norm for each half of a block", {.n_ff = 256, .two_norms = true}},
    SynthPreset{
        "7b",
        "7.2 billion parameters, 32 layers, 71 heads",
        {.n_vocab = 65024, .n_ctx_train = 2048, .n_embd = 4544, .n_layer = 32, .n_ff = 18176, .n_head = 71, .n_head_kv = 1}},
    SynthPreset{"40b",
                "41.8 billion parameters, 60 layers",
                {.n_vocab = 65024,
                 .n_ctx_train = 2048,
                 .n_embd = 8192,
                 .n_layer = 60,
                 .n_ff = 32768,
                 .n_head = 128,
                 .n_head_kv = 8,
                 .two_norms = true}},
};

void make(SynthModel& m) {
    m.keys(NormKind::layer, 1e-5F);
    m.embedding_and_output();
    m.each_block([&m](const std::string& blk) {
        m.fused_attention(blk);
        if (m.shape().two_norms) {
            m.norm(blk + "attn_norm_2");
        }
        m.matrix(blk + "ffn_down", m.shape().n_ff, m.shape().n_embd);
        m.matrix(blk + "ffn_up", m.shape().n_embd, m.shape().n_ff);
    });
}

} // namespace

extern const SynthArchitecture synth_falcon;
const SynthArchitecture synth_falcon{"falcon", presets, make};

} // namespace schedscope
