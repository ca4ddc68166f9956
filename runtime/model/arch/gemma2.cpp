#include "runtime/gguf/gguf.h"
#include "runtime/model/architecture.h"
#include "runtime/model/blocks.h"
#include "runtime/model/layer_weights.h"
#include "runtime/numbers.h"

#include <cmath>

/// Gemma 2: norms in front of and behind each half of a block, soft caps on scores and logits, every other layer slides.
namespace schedscope {

namespace {

void hparams(Hparams& h, const gguf::File& file) {
    h.rope.mode = h.rope_sliding.mode = 2;
    h.embedding_scale = std::sqrt(to_float(h.n_embd));
    h.scales_given_embeddings = true;
    h.attention_cap = read_soft_cap(file, "gemma2.attn_logit_softcapping", 50.0F);
    h.output_cap = read_soft_cap(file, "gemma2.final_logit_softcapping", 30.0F);
    constexpr int32_t blocks_of_27b = 46; // the largest one scales by the width instead of the head's length
    h.query_scale = 1.0F / std::sqrt(to_float(h.n_layer == blocks_of_27b ? h.n_embd / h.n_head : h.head_length_k));
    h.attention_scale = 1;
    read_sliding_window(h, file, 4096, 2, h.rope.freq_base);
}

void name_weights(Weights& w, WeightLoader& load, const Hparams& h) {
    weights::whole_model(w, load, h, {weights::attention, weights::gated_feed_forward, weights::post_norms}, true);
}

} // namespace

extern const Architecture gemma2_architecture;
const Architecture gemma2_architecture{"gemma2", hparams, name_weights, blocks::sandwich_norm_model};

} // namespace schedscope
