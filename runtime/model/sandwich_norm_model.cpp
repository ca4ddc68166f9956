#include "runtime/model/blocks.h"

namespace schedscope::blocks {

void sandwich_norm_model(GraphBuilder& b) {
    Tensor* x = input_embedding(b);
    attention_inputs(b);
    for (int32_t il = 0; il < b.h.n_layer; ++il) {
        const LayerWeights& l = b.layer(il);
        Tensor* attended = attention_half(b, x, il);
        Tensor* residual = only_outputs(b, x, il);
        attended = b.name(norm(b, attended, l.attn_post_norm, NormKind::rms, il), "attn_post_norm", il);
        Tensor* after_attention = b.name(ops::add(b.g, attended, residual), "sa_out", il);

        x = b.name(norm(b, after_attention, l.ffn_norm, NormKind::rms, il), "ffn_norm", il);
        x = b.name(feed_forward(b, x, Activation::gelu, il), "ffn_out", il);
        x = b.name(norm(b, x, l.ffn_post_norm, NormKind::rms, -1), "ffn_post_norm", il);
        x = b.name(ops::add(b.g, x, after_attention), "l_out", il);
    }
    output(b, x, NormKind::rms);
}

} // namespace schedscope::blocks
