#pragma once

#include "traces/replay.h"

#include <optional>
#include <vector>

namespace schedscope {

/// Gives a recorded graph other devices: those of `order` (recorded numbers, by priority, the CPU last) and no others, with another number of offloaded layers if
/// one is given. Moves what the runtime places by layer; see WhatIf. Session, graph and answers are renumbered together.
void rehome(ReplayInput& input, const SessionInfo& recorded, const std::vector<BackendId>& order,
            std::optional<int32_t> n_gpu_layers);

} // namespace schedscope
