#include "runtime/model/blocks.h"

namespace schedscope::blocks {

void output(GraphBuilder& b, Tensor* x, Norm kind) {
    b.io.hidden = b.name(norm(b, x, b.w.output_norm, kind, -1), "result_norm");
    b.io.logits = linear(b, b.w.output, b.io.hidden, "result_output", -1);
    b.io.hidden->flags |= flag_output;
    b.io.logits->flags |= flag_output;
    b.g.expand(b.io.logits);
}

} // namespace schedscope::blocks
