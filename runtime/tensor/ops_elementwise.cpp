#include "runtime/tensor/ops_build.h"

namespace schedscope::ops {

namespace {

Tensor* binary(Graph& g, Op op, Tensor* a, Tensor* b) {
    if (is_integer(a->type)) {
        refuse(op, described(*a) + " must hold floats");
    }
    require_float(op, *b);
    if (!can_repeat(*b, *a)) {
        refuse(op, described(*b) + " can't be repeated to " + described(*a));
    }
    return make_result(g, op, a->type, {a, b});
}

Tensor* of_one(Graph& g, Op op, Tensor* a) {
    require_float(op, *a);
    return make_result(g, op, a->type, {a});
}

} // namespace

Tensor* add(Graph& g, Tensor* a, Tensor* b) { return binary(g, Op::ADD, a, b); }
Tensor* sub(Graph& g, Tensor* a, Tensor* b) { return binary(g, Op::SUB, a, b); }
Tensor* mul(Graph& g, Tensor* a, Tensor* b) { return binary(g, Op::MUL, a, b); }
Tensor* div(Graph& g, Tensor* a, Tensor* b) { return binary(g, Op::DIV, a, b); }

Tensor* add_id(Graph& g, Tensor* a, Tensor* b, Tensor* ids) {
    require_type(Op::ADD_ID, *ids, Type::I32, "row ids");
    if (a->ne[0] != b->ne[0]) {
        refuse(Op::ADD_ID, "rows of " + described(*a) + " and " + described(*b) + " differ in length");
    }
    if (a->ne[1] != ids->ne[0] || a->ne[2] != ids->ne[1]) {
        refuse(Op::ADD_ID, described(*ids) + " does not name a row for each of " + described(*a));
    }
    return make_result(g, Op::ADD_ID, a->type, {a, b, ids});
}

Tensor* scale(Graph& g, Tensor* a, float factor, float bias) {
    require_float(Op::SCALE, *a);
    // Rows may be padded; everything above them must not be.
    const bool rows_only =
        a->nb[0] == traits(a->type).bytes && a->nb[2] == a->nb[1] * a->ne[1] && a->nb[3] == a->nb[2] * a->ne[2];
    if (!rows_only) {
        refuse(Op::SCALE, described(*a) + " must be contiguous but for gaps between rows");
    }
    Tensor* t = make_result(g, Op::SCALE, a->type, {a});
    t->params = packed<Op::SCALE>({.factor = factor, .bias = bias});
    return t;
}

Tensor* sqr(Graph& g, Tensor* a) { return of_one(g, Op::SQR, a); }
Tensor* sqrt(Graph& g, Tensor* a) { return of_one(g, Op::SQRT, a); }
Tensor* log(Graph& g, Tensor* a) { return of_one(g, Op::LOG, a); }
Tensor* sin(Graph& g, Tensor* a) { return of_one(g, Op::SIN, a); }
Tensor* cos(Graph& g, Tensor* a) { return of_one(g, Op::COS, a); }

Tensor* clamp(Graph& g, Tensor* a, float min, float max) {
    require_float(Op::CLAMP, *a);
    Tensor* t = make_view(g, Op::CLAMP, a, 0, " (view)", {a});
    t->params = packed<Op::CLAMP>({.min = min, .max = max});
    return t;
}

Tensor* unary(Graph& g, Tensor* a, UnaryOp op) {
    require_float(Op::UNARY, *a);
    if (!has_contiguous_rows(*a)) {
        refuse(Op::UNARY, described(*a) + " must have contiguous rows");
    }
    Tensor* t = make_result(g, Op::UNARY, a->type, {a});
    t->params = packed<Op::UNARY>({.function = op});
    return t;
}

Tensor* glu(Graph& g, Tensor* a, Tensor* b, GluOp op, bool swapped) {
    require_float(Op::GLU, *a);
    for (const Tensor* t : {a, b}) {
        if (t != nullptr && !is_contiguous_above(*t, 1)) {
            refuse(Op::GLU, described(*t) + " must be contiguous but for gaps between rows");
        }
    }
    if (b != nullptr) {
        require_same_shape(Op::GLU, *a, *b);
        require_type(Op::GLU, *b, a->type, "the factor");
    } else if (a->ne[0] % 2 != 0) {
        refuse(Op::GLU, described(*a) + " does not hold two halves");
    }
    Tensor* t = make_result(g, Op::GLU, a->type, {a, b});
    t->params = packed<Op::GLU>({.function = op, .swapped = swapped ? 1 : 0});
    return t;
}

} // namespace schedscope::ops
