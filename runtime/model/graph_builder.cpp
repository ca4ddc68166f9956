#include "runtime/model/graph_builder.h"

#include "runtime/backend/device.h"

#include <string>

namespace schedscope {

Tensor* GraphBuilder::name(Tensor* t, std::string_view what, int32_t layer) {
    t->name = what;
    if (layer >= 0) {
        t->name += '-' + std::to_string(layer);
        t->layer = layer;
    }
    return t;
}

void GraphBuilder::pin(Tensor* t) const {
    const HomeChoice choice = model.placement().pin(t->op, t->part(), shape.n_tokens,
                                                    [&](int32_t home) { return model.device(home).supports_op(*t).yes; });
    t->pinned = static_cast<int16_t>(choice.home);
    t->why_here = choice.why;
}

} // namespace schedscope
