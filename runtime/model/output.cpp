#include "runtime/model/blocks.h"

namespace schedscope::blocks {

void output(GraphBuilder& b, Tensor* x, NormKind kind) {
    b.io.hidden = b.name(norm(b, x, b.w.output_norm, kind, -1), "result_norm");
    const InPart part(b.g, Role::output, b.h.n_layer);
    x = b.name(ops::mul_mat(b.g, b.w.output.weight, b.io.hidden),
               b.w.output.bias != nullptr ? "result_output_no_bias" : "result_output");
    if (b.w.output.bias != nullptr) {
        x = ops::add(b.g, x, b.w.output.bias);
    }
    if (b.h.output_cap != 0) {
        x = ops::scale(b.g, x, 1.0F / b.h.output_cap);
        x = ops::unary(b.g, x, UnaryOp::TANH);
        x = ops::scale(b.g, x, b.h.output_cap);
    }
    b.io.logits = b.name(x, "result_output");
    b.io.hidden->flags |= flag_output;
    b.io.logits->flags |= flag_output;
    b.g.expand(b.io.logits);
}

} // namespace schedscope::blocks
