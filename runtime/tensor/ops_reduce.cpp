#include "runtime/tensor/ops_build.h"

#include <limits>

namespace schedscope::ops {

Tensor* argmax(Graph& g, Tensor* a) {
    require_type(Op::ARGMAX, *a, Type::F32, "the source");
    if (a->ne[2] != 1 || a->ne[3] != 1 || a->ne[0] > std::numeric_limits<int32_t>::max()) {
        refuse(Op::ARGMAX, described(*a) + " must be a matrix");
    }
    return make_result(g, Op::ARGMAX, Type::I32, {a});
}

Tensor* argsort(Graph& g, Tensor* a, bool descending) {
    require_type(Op::ARGSORT, *a, Type::F32, "the source");
    Tensor* t = make_result(g, Op::ARGSORT, Type::I32, {a});
    t->params = packed<Op::ARGSORT>({.descending = descending ? 1 : 0});
    return t;
}

Tensor* top_k(Graph& g, Tensor* a, int k) {
    require_type(Op::TOP_K, *a, Type::F32, "the source");
    if (k <= 0 || k > a->ne[0]) {
        refuse(Op::TOP_K, "rows of " + described(*a) + " do not have " + std::to_string(k) + " elements");
    }
    return make_result(g, Op::TOP_K, Type::I32, {k, a->ne[1], a->ne[2], a->ne[3]}, {a});
}

Tensor* sum_rows(Graph& g, Tensor* a) {
    require_float(Op::SUM_ROWS, *a);
    return make_result(g, Op::SUM_ROWS, a->type, {a});
}

Tensor* sum(Graph& g, Tensor* a) {
    require_float(Op::SUM, *a);
    return make_result(g, Op::SUM, a->type, {a});
}

Tensor* mean(Graph& g, Tensor* a) {
    require_float(Op::MEAN, *a);
    return make_result(g, Op::MEAN, Type::F32, {a});
}

Tensor* cumsum(Graph& g, Tensor* a) {
    require_type(Op::CUMSUM, *a, Type::F32, "the source");
    return make_result(g, Op::CUMSUM, a->type, {a});
}

} // namespace schedscope::ops
