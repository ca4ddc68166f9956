#include "runtime/model/blocks.h"

namespace schedscope::blocks {

Tensor* norm(GraphBuilder& b, Tensor* x, const Linear& weight, NormKind kind, int32_t il) {
    const InPart part(b.g, Role::norm, il);
    x = kind == NormKind::rms ? ops::rms_norm(b.g, x, b.h.norm_eps) : ops::norm(b.g, x, b.h.norm_eps);
    b.name(x, "norm", il);
    b.pin(x);
    x = ops::mul(b.g, x, weight.weight);
    if (weight.bias != nullptr) {
        b.name(x, "norm_w", il);
        x = ops::add(b.g, x, weight.bias);
    }
    return x;
}

} // namespace schedscope::blocks
