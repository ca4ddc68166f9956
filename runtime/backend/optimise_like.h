#pragma once

#include "runtime/backend/backend.h"

#include <string_view>

namespace schedscope {

/// Orders and groups a split's nodes as a backend of a device of this kind (device_kind_name) would, without the device: for plans that are made from
/// records. A kind that has no step of its own leaves them as they are.
void optimise_like(std::string_view device_kind, SplitGraph& split);

} // namespace schedscope
