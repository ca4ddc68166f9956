#include "runtime/model/blocks.h"

namespace schedscope::blocks {

void sandwich_norm_model(GraphBuilder& b) {
    Tensor* x = input_embedding(b);
    attention_inputs(b);
    for (int32_t il = 0; il < b.h.n_layer; ++il) {
        const LayerWeights& l = b.layer(il);
        Tensor* residual = x;
        x = b.name(norm(b, x, l.attn_norm, Norm::rms, il), "attn_norm", il);
        Qkv qkv = project_qkv(b, x, il);
        normalise_heads(b, qkv, il);
        rotate(b, qkv, il);
        qkv.q = ops::scale(b.g, qkv.q, b.h.query_scale);
        x = attention(b, qkv, l.attn_output, il);
        x = only_outputs(b, x, il);
        residual = only_outputs(b, residual, il);
        x = b.name(norm(b, x, l.attn_post_norm, Norm::rms, il), "attn_post_norm", il);
        Tensor* after_attention = b.name(ops::add(b.g, x, residual), "sa_out", il);

        x = b.name(norm(b, after_attention, l.ffn_norm, Norm::rms, il), "ffn_norm", il);
        x = b.name(feed_forward(b, x, Activation::gelu, il), "ffn_out", il);
        x = b.name(norm(b, x, l.ffn_post_norm, Norm::rms, -1), "ffn_post_norm", il);
        x = b.name(ops::add(b.g, x, after_attention), "l_out", il);
    }
    output(b, x, Norm::rms);
}

} // namespace schedscope::blocks
