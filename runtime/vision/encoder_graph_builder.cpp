#include "runtime/vision/encoder_graph_builder.h"

#include "runtime/numbers.h"
#include "runtime/vision/vision_model.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

namespace schedscope::vision {

EncoderGraphBuilder::EncoderGraphBuilder(Graph& graph, const VisionModel& m, Size p)
    : g(graph), model(m), h(m.hparams()), patches(p) {}

Tensor* EncoderGraphBuilder::name(Tensor* t, std::string_view what, int32_t il) {
    t->name = what;
    if (il >= 0) {
        t->name += '-' + std::to_string(il);
        t->layer = il;
    }
    return t;
}

Tensor* EncoderGraphBuilder::linear(const Linear& weight, Tensor* x) {
    x = ops::mul_mat(g, weight.weight, x);
    return weight.bias != nullptr ? ops::add(g, x, weight.bias) : x;
}

Tensor* EncoderGraphBuilder::norm(const Linear& weight, Tensor* x, int32_t il) {
    x = name(ops::mul(g, ops::norm(g, x, h.norm_eps), weight.weight), "norm_w", il);
    return weight.bias != nullptr ? name(ops::add(g, x, weight.bias), "norm_b", il) : x;
}

Tensor* EncoderGraphBuilder::attention(Tensor* q, Tensor* k, Tensor* v, const Linear& out, int32_t il) {
    // Listed one behind the other, so that nothing comes between them that would need a split of its own.
    g.expand(q);
    g.expand(k);
    g.expand(v);
    const float scale = 1.0F / std::sqrt(to_float(q->ne[0]));
    q = ops::permute(g, q, 0, 2, 1, 3);
    k = ops::permute(g, k, 0, 2, 1, 3);
    v = ops::cont(g, ops::permute(g, v, 1, 2, 0, 3));
    Tensor* kq = ops::mul_mat(g, k, q);
    kq = ops::soft_max(g, kq, nullptr, scale, 0.0F);
    Tensor* x = ops::permute(g, ops::mul_mat(g, v, kq), 0, 2, 1, 3);
    x = name(ops::cont(g, x, {x->ne[0] * x->ne[1], x->ne[2] * x->ne[3], 1, 1}), "kqv_out", il);
    return linear(out, x);
}

/// [n_embd, patches]
Tensor* EncoderGraphBuilder::patch_embedding() {
    io.pixels =
        g.input(Type::F32, {int64_t{patches.width} * h.patch_size, int64_t{patches.height} * h.patch_size, 3, 1}, "inp_raw");
    const Linear& patch = model.weights().patch;
    Tensor* x = ops::conv_2d(g, patch.weight, io.pixels, h.patch_size, h.patch_size, 0, 0, 1, 1);
    x = ops::reshape(g, x, {n_patches(), h.n_embd, 1, 1});
    x = ops::cont(g, ops::transpose(g, x));
    return patch.bias != nullptr ? name(ops::add(g, x, patch.bias), "patch_bias") : x;
}

/// The class in front, and for each its row of the position embedding.
Tensor* EncoderGraphBuilder::with_positions(Tensor* x) {
    const EncoderWeights& w = model.weights();
    if (w.class_embd != nullptr) {
        Tensor* one = w.class_embd->type == Type::F32 ? w.class_embd : ops::cast(g, w.class_embd, Type::F32);
        x = name(ops::concat(g, one, x, 1), "inp_class");
    }
    io.positions = g.input(Type::I32, {x->ne[1], 1, 1, 1}, "positions");
    return name(ops::add(g, x, ops::get_rows(g, w.position_embd, io.positions)), "pos_embed");
}

Tensor* EncoderGraphBuilder::block(Tensor* x, int32_t il) {
    const BlockWeights& w = model.weights().blocks[il];
    const int64_t n = x->ne[1];
    const Shape heads{h.n_embd / h.n_head, h.n_head, n, 1};
    Tensor* residual = x;
    x = name(norm(w.ln1, x, il), "layer_inp_normed", il);
    Tensor* q = linear(w.attn_q, x);
    Tensor* k = linear(w.attn_k, x);
    Tensor* v = linear(w.attn_v, x);
    q = name(ops::reshape(g, q, heads), "Qcur", il);
    k = name(ops::reshape(g, k, heads), "Kcur", il);
    v = name(ops::reshape(g, v, heads), "Vcur", il);
    x = name(attention(q, k, v, w.attn_out, il), "attn_out", il);
    x = residual = name(ops::add(g, x, residual), "ffn_inp", il);

    x = name(norm(w.ln2, x, il), "ffn_inp_normed", il);
    x = name(ops::mul_mat(g, w.ffn_up.weight, x), "ffn_up", il);
    if (w.ffn_up.bias != nullptr) {
        x = name(ops::add(g, x, w.ffn_up.bias), "ffn_up_b", il);
    }
    const std::string_view activated = h.activation == UnaryOp::GELU_QUICK ? "ffn_gelu_quick"
                                       : h.activation == UnaryOp::SILU     ? "ffn_silu"
                                                                           : "ffn_gelu";
    x = name(ops::unary(g, x, h.activation), activated, il);
    x = ops::mul_mat(g, w.ffn_down.weight, x);
    if (w.ffn_down.bias != nullptr) {
        x = ops::add(g, name(x, "ffn_down", il), w.ffn_down.bias);
    }
    x = name(x, "ffn_out", il);
    return name(ops::add(g, residual, x), "layer_out", il);
}

/// Runs the blocks; the hidden states that the file asks for, side by side in its order.
Tensor* EncoderGraphBuilder::features(Tensor* x) {
    const EncoderWeights& w = model.weights();
    const auto n_blocks = n_of(w.blocks);
    std::vector<Tensor*> states = {x};
    for (int32_t il = 0; il < n_blocks; ++il) {
        states.push_back(block(states.back(), il));
    }
    if (w.post_ln.weight != nullptr) {
        states.back() = name(norm(w.post_ln, states.back()), "post_ln");
    }
    Tensor* all = nullptr;
    for (const int32_t layer : h.feature_layers) {
        Tensor* state = states[layer];
        all = all == nullptr ? state : ops::concat(g, all, state, 0);
    }
    return all;
}

void EncoderGraphBuilder::build() {
    const InPart part(g, Role::encoder);
    const EncoderWeights& w = model.weights();
    Tensor* x = with_positions(patch_embedding());
    if (w.pre_ln.weight != nullptr) {
        x = name(norm(w.pre_ln, x), "pre_ln");
    }
    x = features(x);
    if (w.class_embd != nullptr) {
        io.patches = g.input(Type::I32, {n_patches(), 1, 1, 1}, "patches");
        x = ops::get_rows(g, x, io.patches);
    }
    io.result = name(model.projector().graph(*this, model.projector_weights(), x), "embeddings");
    io.result->flags |= flag_output;
    g.expand(io.result);
}

} // namespace schedscope::vision
