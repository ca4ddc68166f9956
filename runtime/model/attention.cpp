#include "runtime/model/blocks.h"

namespace schedscope::blocks {

namespace {

/// k [head, heads, n_tokens] into the rows of the cache.
void store_k(GraphBuilder& b, Tensor* k, int32_t il) {
    const InPart part(b.g, Role::cache, il);
    Tensor* cache = b.cache.layers[il].k;
    Tensor* rows = ops::view_2d(b.g, k, b.h.n_embd_k(), b.shape.n_tokens, k->nb[2], 0);
    b.g.expand(ops::set_rows(b.g, cache, rows, b.k_rows(il)));
}

void store_v(GraphBuilder& b, Tensor* v, int32_t il) {
    const InPart part(b.g, Role::cache, il);
    Tensor* cache = b.cache.layers[il].v;
    if (!b.cache.v_transposed) {
        Tensor* rows = ops::view_2d(b.g, v, b.h.n_embd_v(), b.shape.n_tokens, v->nb[2], 0);
        b.g.expand(ops::set_rows(b.g, cache, rows, b.v_rows(il)));
        return;
    }
    // Transposed, the values of a token lie apart: each is a row of its own.
    const bool dense = v->nb[2] == row_bytes(v->type, b.h.n_embd_v());
    const Shape all{b.h.n_embd_v(), b.shape.n_tokens, 1, 1};
    Tensor* rows = dense ? ops::reshape(b.g, v, all) : ops::cont(b.g, v, all);
    Tensor* elements = ops::reshape(b.g, cache, {1, n_elements(*cache), 1, 1});
    rows = ops::reshape(b.g, rows, {1, n_elements(*rows), 1, 1});
    b.g.expand(ops::set_rows(b.g, elements, rows, b.v_rows(il)));
}

/// [head, heads_kv, n_kv]
Tensor* cached_k(GraphBuilder& b, int32_t il) {
    const InPart part(b.g, Role::cache, il);
    Tensor* cache = b.cache.layers[il].k;
    const size_t row = row_bytes(cache->type, b.h.n_embd_k());
    return ops::view_4d(b.g, cache, b.h.head_length_k, b.h.n_head_kv, b.cache.n_kv, 1, row_bytes(cache->type, b.h.head_length_k),
                        row, row * b.cache.n_cells, 0);
}

/// [head, heads_kv, n_kv]; transposed: [n_kv, heads_kv, head]
Tensor* cached_v(GraphBuilder& b, int32_t il) {
    const InPart part(b.g, Role::cache, il);
    Tensor* cache = b.cache.layers[il].v;
    const int64_t head = b.h.head_length_v;
    const int64_t n_cells = b.cache.n_cells;
    const size_t all = row_bytes(cache->type, b.h.n_embd_v()) * n_cells;
    if (!b.cache.v_transposed) {
        return ops::view_4d(b.g, cache, head, b.h.n_head_kv, b.cache.n_kv, 1, row_bytes(cache->type, head),
                            row_bytes(cache->type, b.h.n_embd_v()), all, 0);
    }
    return ops::view_4d(b.g, cache, b.cache.n_kv, b.h.n_head_kv, head, 1, row_bytes(cache->type, n_cells * head),
                        row_bytes(cache->type, n_cells), all, 0);
}

/// [head × heads, n_tokens]
Tensor* attend(GraphBuilder& b, Tensor* q, int32_t il) {
    Graph& g = b.g;
    Tensor* k = cached_k(b, il);
    Tensor* v = cached_v(b, il);
    q = ops::view_4d(g, q, q->ne[0], q->ne[1], q->ne[2], 1, q->nb[1], q->nb[2], q->nb[3], 0);
    q = ops::permute(g, q, 0, 2, 1, 3);
    k = ops::permute(g, k, 0, 2, 1, 3);
    v = ops::permute(g, v, 0, 2, 1, 3);
    if (b.settings.flash_attention) {
        Tensor* x = ops::flash_attn(g, q, k, v, b.mask(il), b.h.attention_scale, 0.0F, b.h.attention_cap);
        auto params = params_of<Op::FLASH_ATTN_EXT>(*x);
        params.precision = precision_f32; // scores can exceed what half precision holds
        x->params = packed<Op::FLASH_ATTN_EXT>(params);
        return ops::reshape(g, x, {x->ne[0] * x->ne[1], x->ne[2] * x->ne[3], 1, 1});
    }
    Tensor* kq = b.name(ops::mul_mat(g, k, q), "kq", il);
    kq->params = packed<Op::MUL_MAT>({.precision = precision_f32});
    if (b.h.attention_cap != 0) {
        kq = b.name(ops::scale(g, kq, 1.0F / b.h.attention_cap), "kq_scaled_1", il);
        kq = b.name(ops::unary(g, kq, UnaryOp::TANH), "kq_tanh", il);
        kq = b.name(ops::scale(g, kq, b.h.attention_cap), "kq_scaled_2", il);
    }
    kq = b.name(ops::soft_max(g, kq, b.mask(il), b.h.attention_scale, 0.0F), "kq_soft_max", il);
    Tensor* kqv = b.name(ops::mul_mat(g, v, kq), "kqv", il);
    Tensor* x = ops::permute(g, kqv, 0, 2, 1, 3);
    const InPart part(g, Role::attended, il);
    x = ops::cont(g, x, {x->ne[0] * x->ne[1], x->ne[2] * x->ne[3], 1, 1});
    b.pin(x);
    return x;
}

} // namespace

Tensor* linear(GraphBuilder& b, const Linear& weight, Tensor* x, std::string_view what, int32_t il) {
    x = b.name(ops::mul_mat(b.g, weight.weight, x), what, il);
    return weight.bias == nullptr ? x : b.name(ops::add(b.g, x, weight.bias), what, il);
}

namespace {

/// Views into one product with the rows of all three.
Qkv project_together(GraphBuilder& b, Tensor* x, int32_t il) {
    const Linear& w = b.layer(il).attn_qkv;
    x = b.name(ops::mul_mat(b.g, w.weight, x), "wqkv", il);
    if (w.bias != nullptr) {
        x = b.name(ops::add(b.g, x, w.bias), "wqkv_b", il);
    }
    const auto heads = [&](int32_t length, int32_t n, int64_t first) {
        return ops::view_3d(b.g, x, length, n, b.shape.n_tokens, row_bytes(x->type, length), x->nb[1], row_bytes(x->type, first));
    };
    return {heads(b.h.head_length_k, b.h.n_head, 0), heads(b.h.head_length_k, b.h.n_head_kv, b.h.n_embd_q()),
            heads(b.h.head_length_v, b.h.n_head_kv, int64_t{b.h.n_embd_q()} + b.h.n_embd_k())};
}

Qkv project_apart(GraphBuilder& b, Tensor* x, int32_t il) {
    const LayerWeights& w = b.layer(il);
    const int64_t n = b.shape.n_tokens;
    Tensor* q = linear(b, w.attn_q, x, "Qcur", il);
    Tensor* k = linear(b, w.attn_k, x, "Kcur", il);
    Tensor* v = linear(b, w.attn_v, x, "Vcur", il);
    return {ops::reshape(b.g, q, {b.h.head_length_k, b.h.n_head, n, 1}),
            ops::reshape(b.g, k, {b.h.head_length_k, b.h.n_head_kv, n, 1}),
            ops::reshape(b.g, v, {b.h.head_length_v, b.h.n_head_kv, n, 1})};
}

} // namespace

Qkv project_qkv(GraphBuilder& b, Tensor* x, int32_t il) {
    const InPart part(b.g, Role::attention, il);
    Qkv qkv = b.layer(il).attn_qkv.weight != nullptr ? project_together(b, x, il) : project_apart(b, x, il);
    b.name(qkv.q, "Qcur", il);
    b.name(qkv.k, "Kcur", il);
    b.name(qkv.v, "Vcur", il);
    return qkv;
}

void normalise_heads(GraphBuilder& b, Qkv& qkv, int32_t il) {
    const LayerWeights& w = b.layer(il);
    if (w.attn_q_norm.weight != nullptr) {
        qkv.q = b.name(norm(b, qkv.q, w.attn_q_norm, NormKind::rms, il), "Qcur_normed", il);
        qkv.k = b.name(norm(b, qkv.k, w.attn_k_norm, NormKind::rms, il), "Kcur_normed", il);
    }
}

RopeParams rope_params(const RopeHparams& r) noexcept {
    RopeParams p;
    p.n_dims = r.n_dims;
    p.mode = r.mode;
    p.n_ctx_original = r.n_ctx_original;
    p.freq_base = r.freq_base;
    p.freq_scale = 1.0F / r.factor;
    p.ext_factor = r.scaling == RopeScaling::yarn ? 1.0F : 0.0F;
    p.attn_factor = r.attn_factor;
    p.beta_fast = r.beta_fast;
    p.beta_slow = r.beta_slow;
    return p;
}

Tensor* rope_factors(const LayerWeights& l, const RopeHparams& r, int64_t n_ctx) noexcept {
    if (l.rope_factors != nullptr) {
        return l.rope_factors;
    }
    return n_ctx > r.n_ctx_original ? l.rope_factors_long : l.rope_factors_short;
}

void rotate(GraphBuilder& b, Qkv& qkv, int32_t il) {
    const InPart part(b.g, Role::attention, il);
    const RopeHparams& r = b.h.rope_of(il);
    const RopeParams p = rope_params(r);
    Tensor* factors = rope_factors(b.layer(il), r, b.settings.n_ctx);
    qkv.q = b.name(ops::rope(b.g, qkv.q, b.io.positions, factors, p), "Qcur", il);
    qkv.k = b.name(ops::rope(b.g, qkv.k, b.io.positions, factors, p), "Kcur", il);
}

Tensor* attention(GraphBuilder& b, const Qkv& qkv, const Linear& output, int32_t il) {
    const InPart part(b.g, Role::attention, il);
    // Listed one behind the other, so that nothing comes between them that would need a split of its own; k last, beside its
    // store.
    b.g.expand(qkv.q);
    b.g.expand(qkv.v);
    b.g.expand(qkv.k);
    store_k(b, qkv.k, il);
    store_v(b, qkv.v, il);
    Tensor* x = b.name(attend(b, qkv.q, il), "kqv_out", il);
    b.g.expand(x);
    return linear(b, output, x, "attn_out", il);
}

Tensor* only_outputs(GraphBuilder& b, Tensor* x, int32_t il) {
    return b.is_last(il) ? ops::get_rows(b.g, x, b.io.output_rows) : x;
}

Tensor* attention_half(GraphBuilder& b, Tensor* x, int32_t il, std::string_view scaled_q) {
    const InPart part(b.g, Role::attention, il);
    const LayerWeights& l = b.layer(il);
    x = b.name(norm(b, x, l.attn_norm, NormKind::rms, il), "attn_norm", il);
    Qkv qkv = project_qkv(b, x, il);
    normalise_heads(b, qkv, il);
    rotate(b, qkv, il);
    if (b.h.query_scale != 0) {
        qkv.q = ops::scale(b.g, qkv.q, b.h.query_scale);
        if (!scaled_q.empty()) {
            b.name(qkv.q, scaled_q, il);
        }
    }
    return only_outputs(b, attention(b, qkv, l.attn_output, il), il);
}

} // namespace schedscope::blocks
