#pragma once

#include "runtime/planner/placement/policy.h"
#include "traces/replay/replay.h"

#include <optional>
#include <vector>

namespace schedscope {

/// The backend in whose memory something lies, by its place in the session; memory that is no device's own is the host's.
int32_t home_of_memory(const SessionInfo& session, BufferTypeId type) noexcept;

/// Nothing: the session has no such memory.
std::optional<BufferTypeId> memory_named(const SessionInfo& session, std::string_view name, bool is_host) noexcept;
/// Host memory of the last backend's own name, "CPU": not mapped, not pinned. Nothing: the session has none.
std::optional<BufferTypeId> plain_host_memory(const SessionInfo& session) noexcept;

/// A session's devices as the policy takes them. `order`: by priority, the CPU last.
std::vector<PlacedDevice> placed_devices(const SessionInfo& session, const std::vector<BackendId>& order);

/// Gives a recorded graph other devices: those of `order` (recorded numbers, by priority, the CPU last) and no others. Session,
/// graph and answers are renumbered together. What belongs to a part of the model goes where the policy for these devices says,
/// as when it is loaded and built: weights (one that parts in different memory read is there once in each), the cache, what
/// samplers read, pinned nodes. What stays with its device stays in its memory. Null: it is not known where things belong; all
/// stays.
void rehome(ReplayInput& input, const SessionInfo& recorded, const std::vector<BackendId>& order, const PlacementPolicy* policy);

} // namespace schedscope
