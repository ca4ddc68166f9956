#include "runtime/model/blocks.h"

namespace schedscope::blocks {

void pre_norm_model(GraphBuilder& b) {
    Tensor* x = input_embedding(b);
    attention_inputs(b);
    for (int32_t il = 0; il < b.h.n_layer; ++il) {
        const LayerWeights& l = b.layer(il);
        Tensor* attended = attention_half(b, x, il);
        Tensor* ffn_input = b.name(ops::add(b.g, attended, only_outputs(b, x, il)), "ffn_inp", il);

        x = b.name(norm(b, ffn_input, l.ffn_norm, NormKind::rms, il), "ffn_norm", il);
        x = l.ffn_router == nullptr ? b.name(feed_forward(b, x, Activation::silu, il), "ffn_out", il)
                                    : b.name(experts(b, x, true, il), "ffn_moe_out", il);
        x = b.name(ops::add(b.g, x, ffn_input), "l_out", il);
    }
    output(b, x, NormKind::rms);
}

} // namespace schedscope::blocks
