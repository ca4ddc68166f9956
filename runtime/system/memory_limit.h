#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace schedscope {

/// Bytes of memory that the process can have: the machine's, or fewer where a control group (of a container, of a service) says
/// so.
int64_t usable_memory();

/// What the control groups of a process allow it, in either version (cgroups(7)); nothing: as much as there is. groups: names
/// them as /proc/self/cgroup does; mounted: the folder below which they are.
std::optional<int64_t> control_group_limit(const std::string& groups, const std::string& mounted);

} // namespace schedscope
