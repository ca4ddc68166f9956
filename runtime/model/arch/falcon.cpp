#include "runtime/model/architecture.h"
#include "runtime/model/blocks.h"
#include "runtime/model/layer_weights.h"
#include "runtime/model/weight_loader.h"

/// Falcon, 7B and 40B: layer norms with biases, and both halves of a block read the same x, whose sum with both goes on. The 40B
/// kind has a norm for each half (attn_norm_2 is the attention's). GELU without a gate.
namespace schedscope {

namespace {

void hparams(Hparams& h, const gguf::File& /*file*/) { h.rope.mode = 2; }

void feed_forward(LayerWeights& l, WeightLoader& load, const Hparams& h, int32_t il) {
    const std::string blk = weights::block(il);
    l.attn_norm_2 = load.maybe_linear(blk + "attn_norm_2", {h.n_embd, 1, 1, 1}, {Role::norm, il});
    l.ffn_down = load.linear(blk + "ffn_down", {h.n_ff, h.n_embd, 1, 1}, {Role::feed_forward, il});
    l.ffn_up = load.linear(blk + "ffn_up", {h.n_embd, h.n_ff, 1, 1}, {Role::feed_forward, il});
}

void name_weights(Weights& w, WeightLoader& load, const Hparams& h) {
    weights::whole_model(w, load, h, {weights::attention, feed_forward});
}

void graph(GraphBuilder& b) {
    Tensor* x = blocks::input_embedding(b);
    blocks::attention_inputs(b);
    for (int32_t il = 0; il < b.h.n_layer; ++il) {
        const LayerWeights& l = b.layer(il);
        Tensor* residual = x;
        Tensor* normed = b.name(blocks::norm(b, x, l.attn_norm, NormKind::layer, il), "attn_norm", il);
        x = l.attn_norm_2.weight == nullptr ? normed
                                            : b.name(blocks::norm(b, x, l.attn_norm_2, NormKind::layer, il), "attn_norm_2", il);
        blocks::Qkv qkv = blocks::project_qkv(b, x, il);
        blocks::rotate(b, qkv, il);
        Tensor* attention = blocks::only_outputs(b, blocks::attention(b, qkv, l.attn_output, il), il);
        residual = blocks::only_outputs(b, residual, il);
        normed = blocks::only_outputs(b, normed, il);

        x = b.name(blocks::feed_forward(b, normed, blocks::Activation::gelu, il), "ffn_out", il);
        x = ops::add(b.g, x, attention);
        x = b.name(ops::add(b.g, x, residual), "l_out", il);
    }
    blocks::output(b, x, NormKind::layer);
}

} // namespace

extern const Architecture falcon_architecture;
const Architecture falcon_architecture{"falcon", hparams, name_weights, graph};

} // namespace schedscope
