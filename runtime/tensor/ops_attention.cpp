#include "runtime/tensor/ops_build.h"

namespace schedscope::ops {

namespace {

/// A mask's rows are per query; its upper dimensions are repeated over heads and sequences.
void check_mask(Op op, const Tensor& mask, int64_t keys, int64_t queries, int64_t heads, int64_t sequences) {
    if (!is_contiguous(mask)) {
        refuse(op, "mask " + described(mask) + " must be contiguous");
    }
    if (mask.ne[0] != keys || mask.ne[1] < queries || heads % mask.ne[2] != 0 || sequences % mask.ne[3] != 0) {
        refuse(op, "mask " + described(mask) + " does not fit scores " + shape_text({keys, queries, heads, sequences}));
    }
}

} // namespace

Tensor* soft_max(Graph& g, Tensor* a, Tensor* mask, float scale, float max_bias, Tensor* sinks) {
    require_float(Op::SOFT_MAX, *a);
    if (!is_contiguous(*a)) {
        refuse(Op::SOFT_MAX, described(*a) + " must be contiguous");
    }
    if (mask != nullptr) {
        if (mask->type != Type::F32 && mask->type != Type::F16) {
            refuse(Op::SOFT_MAX, "mask " + described(*mask) + " must be f32 or f16");
        }
        check_mask(Op::SOFT_MAX, *mask, a->ne[0], a->ne[1], a->ne[2], a->ne[3]);
    } else if (max_bias > 0.0F) {
        refuse(Op::SOFT_MAX, "a position bias needs a mask");
    }
    if (sinks != nullptr) {
        require_type(Op::SOFT_MAX, *sinks, Type::F32, "sinks");
        if (sinks->ne[0] != a->ne[2]) {
            refuse(Op::SOFT_MAX, "sinks " + described(*sinks) + " do not fit the heads of " + described(*a));
        }
    }
    Tensor* t = make_result(g, Op::SOFT_MAX, a->type, {a, mask, sinks});
    t->params = packed<Op::SOFT_MAX>({.scale = scale, .max_bias = max_bias});
    return t;
}

Tensor* rope(Graph& g, Tensor* a, Tensor* positions, Tensor* factors, const RopeParams& p) {
    require_float(Op::ROPE, *a);
    require_type(Op::ROPE, *positions, Type::I32, "positions");
    if (p.mode != 0 && p.mode != 2) {
        refuse(Op::ROPE, "mode " + std::to_string(p.mode) + " is not known");
    }
    if (p.n_dims <= 0 || p.n_dims % 2 != 0 || p.n_dims > a->ne[0]) {
        refuse(Op::ROPE, std::to_string(p.n_dims) + " dimensions of " + described(*a) + " can't be rotated");
    }
    if (n_elements(*positions) != positions->ne[0] || positions->ne[0] != a->ne[2]) {
        refuse(Op::ROPE, "positions " + described(*positions) + " do not fit the tokens of " + described(*a));
    }
    if (factors != nullptr) {
        require_type(Op::ROPE, *factors, Type::F32, "factors");
        if (factors->ne[0] < p.n_dims / 2) {
            refuse(Op::ROPE, "factors " + described(*factors) + " are fewer than " + std::to_string(p.n_dims / 2));
        }
    }
    Tensor* t = make_result(g, Op::ROPE, a->type, {a, positions, factors});
    t->params = packed<Op::ROPE>(p);
    return t;
}

Tensor* flash_attn(Graph& g, Tensor* q, Tensor* k, Tensor* v, Tensor* mask, float scale, float max_bias, float logit_cap) {
    require_type(Op::FLASH_ATTN_EXT, *q, Type::F32, "the query");
    for (const Tensor* t : {k, v}) {
        if (is_transposed(*t) || is_integer(t->type)) {
            refuse(Op::FLASH_ATTN_EXT, described(*t) + " must hold floats and not be transposed");
        }
    }
    if (k->ne[0] != q->ne[0] || k->ne[1] != v->ne[1] || k->ne[2] != v->ne[2] || q->ne[2] % k->ne[2] != 0) {
        refuse(Op::FLASH_ATTN_EXT, described(*q) + ", " + described(*k) + " and " + described(*v) + " do not fit together");
    }
    if (q->ne[3] != k->ne[3] || q->ne[3] != v->ne[3]) {
        refuse(Op::FLASH_ATTN_EXT, described(*q) + ", " + described(*k) + " and " + described(*v) + " differ in sequences");
    }
    if (mask != nullptr) {
        require_type(Op::FLASH_ATTN_EXT, *mask, Type::F16, "mask");
        check_mask(Op::FLASH_ATTN_EXT, *mask, k->ne[1], q->ne[1], q->ne[2], q->ne[3]);
    } else if (max_bias > 0.0F) {
        refuse(Op::FLASH_ATTN_EXT, "a position bias needs a mask");
    }
    Tensor* t = make_result(g, Op::FLASH_ATTN_EXT, Type::F32, {q, k, v, mask});
    t->params = packed<Op::FLASH_ATTN_EXT>({.scale = scale, .max_bias = max_bias, .logit_cap = logit_cap, .precision = 0});
    return t;
}

} // namespace schedscope::ops
