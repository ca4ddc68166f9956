#include "runtime/tensor/ops_build.h"

namespace schedscope::ops {

namespace {

Tensor* norm_of_rows(Graph& g, Op op, Tensor* a, float eps) {
    require_float(op, *a);
    Tensor* t = make_result(g, op, a->type, a->ne, {a});
    t->set_param_f32(0, eps);
    return t;
}

} // namespace

Tensor* norm(Graph& g, Tensor* a, float eps) { return norm_of_rows(g, Op::NORM, a, eps); }
Tensor* rms_norm(Graph& g, Tensor* a, float eps) { return norm_of_rows(g, Op::RMS_NORM, a, eps); }
Tensor* l2_norm(Graph& g, Tensor* a, float eps) { return norm_of_rows(g, Op::L2_NORM, a, eps); }

Tensor* group_norm(Graph& g, Tensor* a, int groups, float eps) {
    require_float(Op::GROUP_NORM, *a);
    if (groups <= 0) {
        refuse(Op::GROUP_NORM, std::to_string(groups) + " groups are not possible");
    }
    Tensor* t = make_result(g, Op::GROUP_NORM, a->type, a->ne, {a});
    t->params[0] = groups;
    t->set_param_f32(1, eps);
    return t;
}

} // namespace schedscope::ops
