#include "runtime/tensor/ops_build.h"

namespace schedscope::ops {

namespace {

void check_factors(Op op, const Tensor& a, const Tensor& b) {
    if (is_transposed(a)) {
        refuse(op, described(a) + " must not be transposed");
    }
    if (is_integer(a.type)) {
        refuse(op, described(a) + " must hold floats");
    }
    require_float(op, b);
    if (a.ne[0] != b.ne[0]) {
        refuse(op, "rows of " + described(a) + " and " + described(b) + " differ in length");
    }
}

} // namespace

Tensor* mul_mat(Graph& g, Tensor* a, Tensor* b) {
    check_factors(Op::MUL_MAT, *a, *b);
    if (b->ne[2] % a->ne[2] != 0 || b->ne[3] % a->ne[3] != 0) {
        refuse(Op::MUL_MAT, described(*a) + " can't be repeated over the matrices of " + described(*b));
    }
    return make_result(g, Op::MUL_MAT, Type::F32, {a, b});
}

Tensor* mul_mat_id(Graph& g, Tensor* as, Tensor* b, Tensor* ids) {
    check_factors(Op::MUL_MAT_ID, *as, *b);
    require_type(Op::MUL_MAT_ID, *ids, Type::I32, "expert ids");
    if (as->ne[3] != 1 || b->ne[3] != 1 || ids->ne[2] != 1 || ids->ne[3] != 1) {
        refuse(Op::MUL_MAT_ID, described(*as) + ", " + described(*b) + " and " + described(*ids) + " have too many dimensions");
    }
    if (ids->ne[1] != b->ne[2]) {
        refuse(Op::MUL_MAT_ID, described(*ids) + " does not name experts for each token of " + described(*b));
    }
    if (ids->ne[0] % b->ne[1] != 0) {
        refuse(Op::MUL_MAT_ID, "rows of " + described(*b) + " can't be repeated over the experts of " + described(*ids));
    }
    return make_result(g, Op::MUL_MAT_ID, Type::F32, {as, b, ids});
}

} // namespace schedscope::ops
