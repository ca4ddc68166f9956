#include "runtime/gguf/gguf.h"
#include "runtime/model/architecture.h"
#include "runtime/model/blocks.h"
#include "runtime/model/layer_weights.h"
#include "runtime/numbers.h"

#include <cmath>

/// Gemma 3: as Gemma 2 with norms of each head of q and k, without the cap on scores; five layers slide, the sixth doesn't.
/// Layers that slide have a rope of their own: base 10,000, not stretched.
namespace schedscope {

namespace {

void hparams(Hparams& h, const gguf::File& file) {
    h.rope.mode = 2;
    h.rope_sliding = {.n_dims = h.rope.n_dims, .mode = 2, .n_ctx_original = h.rope.n_ctx_original};
    h.embedding_scale = std::sqrt(to_float(h.n_embd));
    h.output_cap = read_soft_cap(file, "gemma3.final_logit_softcapping", 0.0F);
    constexpr int32_t blocks_of_27b = 62; // the largest one scales by the width instead of the head's length
    h.query_scale = 1.0F / std::sqrt(to_float(h.n_layer == blocks_of_27b ? h.n_embd / h.n_head : h.head_length_k));
    h.attention_scale = 1;
    read_sliding_window(h, file, 0, 6, 10000.0F);
}

void name_weights(Weights& w, WeightLoader& load, const Hparams& h) {
    weights::whole_model(w, load, h, {weights::attention, weights::head_norms, weights::gated_feed_forward, weights::post_norms});
}

} // namespace

extern const Architecture gemma3_architecture;
const Architecture gemma3_architecture{"gemma3", hparams, name_weights, blocks::sandwich_norm_model};

} // namespace schedscope
