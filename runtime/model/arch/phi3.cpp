#include "runtime/model/architecture.h"
#include "runtime/model/blocks.h"
#include "runtime/model/layer_weights.h"
#include "runtime/model/weight_loader.h"

/// Phi 3: one matrix for q, k and v, one for gate and up; rope on the first values of a head, whose angles long contexts divide
/// by factors of their own (long rope). Its sliding window is not used, as in llama.cpp.
namespace schedscope {

namespace {

void hparams(Hparams& h, const gguf::File& /*file*/) {
    h.rope.mode = 2;
    h.query_scale = h.attention_scale;
    h.attention_scale = 1;
}

void rope_factors(LayerWeights& l, WeightLoader& load, const Hparams& h, int32_t il) {
    const Shape pairs{h.rope.n_dims / 2, 1, 1, 1};
    l.rope_factors_long = load.maybe("rope_factors_long.weight", pairs, {Role::attention, il, Op::ROPE});
    l.rope_factors_short = load.maybe("rope_factors_short.weight", pairs, {Role::attention, il, Op::ROPE});
}

void fused_feed_forward(LayerWeights& l, WeightLoader& load, const Hparams& h, int32_t il) {
    const std::string blk = weights::block(il);
    l.ffn_norm = load.linear(blk + "ffn_norm", {h.n_embd, 1, 1, 1}, {Role::norm, il});
    l.ffn_down = load.linear(blk + "ffn_down", {h.n_ff, h.n_embd, 1, 1}, {Role::feed_forward, il});
    l.ffn_up = load.linear(blk + "ffn_up", {h.n_embd, int64_t{2} * h.n_ff, 1, 1}, {Role::feed_forward, il});
}

void name_weights(Weights& w, WeightLoader& load, const Hparams& h) {
    weights::whole_model(w, load, h, {weights::attention, rope_factors, fused_feed_forward});
}

void graph(GraphBuilder& b) {
    Tensor* x = blocks::input_embedding(b);
    blocks::attention_inputs(b);
    for (int32_t il = 0; il < b.h.n_layer; ++il) {
        const LayerWeights& l = b.layer(il);
        Tensor* attended = blocks::attention_half(b, x, il, "Qcur");
        Tensor* residual = ops::add(b.g, attended, blocks::only_outputs(b, x, il));

        x = b.name(blocks::norm(b, residual, l.ffn_norm, NormKind::rms, il), "ffn_norm", il);
        x = b.name(blocks::feed_forward(b, x, blocks::Activation::silu, il), "ffn_out", il);
        x = b.name(ops::add(b.g, residual, x), "l_out", il);
    }
    blocks::output(b, x, NormKind::rms);
}

} // namespace

extern const Architecture phi3_architecture;
const Architecture phi3_architecture{"phi3", hparams, name_weights, graph};

} // namespace schedscope
