#include "runtime/model/architecture.h"
#include "runtime/model/blocks.h"
#include "runtime/model/layer_weights.h"
#include "runtime/numbers.h"

#include <cmath>

/// Gemma: embeddings × √width, GELU gates, the output tied to the embedding, q multiplied by 1/√(head length).
namespace schedscope {

namespace {

void hparams(Hparams& h, const gguf::File& /*file*/) {
    h.rope.mode = 2;
    h.embedding_scale = std::sqrt(to_float(h.n_embd));
    h.scales_given_embeddings = true;
    h.query_scale = h.attention_scale;
    h.attention_scale = 1;
}

void name_weights(Weights& w, WeightLoader& load, const Hparams& h) {
    weights::whole_model(w, load, h, {weights::attention, weights::gated_feed_forward}, true);
}

void graph(GraphBuilder& b) {
    Tensor* x = blocks::input_embedding(b);
    blocks::attention_inputs(b);
    for (int32_t il = 0; il < b.h.n_layer; ++il) {
        const LayerWeights& l = b.layer(il);
        Tensor* attended = blocks::attention_half(b, x, il, "Qcur_scaled");
        Tensor* after_attention = b.name(ops::add(b.g, attended, blocks::only_outputs(b, x, il)), "sa_out", il);

        x = b.name(blocks::norm(b, after_attention, l.ffn_norm, NormKind::rms, il), "ffn_norm", il);
        x = b.name(blocks::feed_forward(b, x, blocks::Activation::gelu, il), "ffn_out", il);
        x = b.name(ops::add(b.g, x, after_attention), "l_out", il);
    }
    blocks::output(b, x, NormKind::rms);
}

} // namespace

extern const Architecture gemma_architecture;
const Architecture gemma_architecture{"gemma", hparams, name_weights, graph};

} // namespace schedscope
