#pragma once

#include "traces/replay/replay.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace schedscope {

/// Gives a recorded graph other devices: those of `order` (recorded numbers, by priority, the CPU last) and no others, with another number of offloaded layers if
/// one is given. Moves what the runtime places by layer, by the records of who decided (TensorInfo::home): weights and caches follow their layer, weights only
/// to a device that runs what reads them; a weight of several layers is there once in each of their memories; norms are pinned again; what the user placed
/// stays. Session, graph and answers are renumbered together. Throws Error(usage) when the trace doesn't say what belongs to which layer.
void rehome(ReplayInput& input, const SessionInfo& recorded, const std::vector<BackendId>& order,
            std::optional<int32_t> n_gpu_layers);

/// Which backend of `session` each of the recorded model's layers lives on, the output behind the last. Throws Error(usage) when the recorded shares (-ts) are
/// more than the devices that hold layers.
std::vector<int32_t> layer_homes_with(const SessionInfo& recorded, const SessionInfo& session,
                                      std::optional<int32_t> n_gpu_layers);

} // namespace schedscope
