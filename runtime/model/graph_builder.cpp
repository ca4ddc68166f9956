#include "runtime/model/graph_builder.h"

#include "runtime/backend/device.h"

#include <string>

namespace schedscope {

Tensor* GraphBuilder::name(Tensor* t, std::string_view what, int32_t layer) const {
    constexpr int32_t small_batch = 32;
    t->name = what;
    if (layer < 0) {
        return t;
    }
    t->name += '-' + std::to_string(layer);
    const Placement& placement = model.placement();
    if (what == "norm" && (shape.n_tokens < small_batch || placement.full_offload())) {
        const int32_t home = placement.layer_home(layer);
        if (model.device(home).supports_op(*t).yes) {
            t->pinned = static_cast<int16_t>(home);
        }
    }
    return t;
}

} // namespace schedscope
