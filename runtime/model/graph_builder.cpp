#include "runtime/model/graph_builder.h"

#include "runtime/backend/device.h"
#include "runtime/planner/placement/layer_homes.h"

#include <string>

namespace schedscope {

Tensor* GraphBuilder::name(Tensor* t, std::string_view what, int32_t layer) const {
    t->name = what;
    if (layer < 0) {
        return t;
    }
    t->name += '-' + std::to_string(layer);
    t->layer = layer;
    const ModelPlacement& placement = model.placement();
    if (what != "norm") {
        return t;
    }
    t->home = Home::layer_norm;
    const int32_t home = placement.layer_home(layer);
    const bool small = shape.n_tokens < small_batch;
    if (!small && !placement.full_offload()) {
        t->why_here = "not pinned to its layer's device: the batch has 32 tokens or more, and not all layers are offloaded";
    } else if (!model.device(home).supports_op(*t).yes) {
        t->why_here = "not pinned to its layer's device, which can't run it";
    } else {
        t->pinned = static_cast<int16_t>(home);
        t->why_here = small ? "norms of a layer are pinned to its device when the batch has fewer than 32 tokens"
                            : "norms of a layer are pinned to its device when all layers are offloaded";
    }
    return t;
}

} // namespace schedscope
