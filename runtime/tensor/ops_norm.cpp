#include "runtime/tensor/ops_build.h"

namespace schedscope::ops {

namespace {

template <Op op> Tensor* norm_of_rows(Graph& g, Tensor* a, float eps) {
    require_float(op, *a);
    Tensor* t = make_result(g, op, a->type, {a});
    t->params = packed<op>({.eps = eps});
    return t;
}

} // namespace

Tensor* norm(Graph& g, Tensor* a, float eps) { return norm_of_rows<Op::NORM>(g, a, eps); }
Tensor* rms_norm(Graph& g, Tensor* a, float eps) { return norm_of_rows<Op::RMS_NORM>(g, a, eps); }
Tensor* l2_norm(Graph& g, Tensor* a, float eps) { return norm_of_rows<Op::L2_NORM>(g, a, eps); }

Tensor* group_norm(Graph& g, Tensor* a, int groups, float eps) {
    require_float(Op::GROUP_NORM, *a);
    if (groups <= 0) {
        refuse(Op::GROUP_NORM, std::to_string(groups) + " groups are not possible");
    }
    Tensor* t = make_result(g, Op::GROUP_NORM, a->type, {a});
    t->params = packed<Op::GROUP_NORM>({.groups = groups, .eps = eps});
    return t;
}

} // namespace schedscope::ops
