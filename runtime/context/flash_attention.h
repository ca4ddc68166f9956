#pragma once

#include "runtime/model/model.h"
#include "runtime/ops/type.h"

#include <cstdint>

namespace schedscope {

/// Can every device that holds a layer run the layer's flash attention, with a cache of these types and so many cells? Asked with
/// the real nodes of a one-token graph.
bool flash_attention_everywhere(const Model& model, Type type_k, Type type_v, int32_t n_cells);

} // namespace schedscope
