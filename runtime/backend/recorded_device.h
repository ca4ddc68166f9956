#pragma once

#include "runtime/backend/device.h"
#include "runtime/planner/device_profile.h"

#include <memory>

namespace schedscope {

/// A device that answers as a recorded one did. Its buffers have sizes and no memory, and nothing runs on it. Throws Error(usage)
/// where a CPU is to be something else than the CPU, or the other way round.
std::unique_ptr<Device> make_recorded_device(const DeviceDescription& description, std::shared_ptr<const DeviceProfile> profile);

} // namespace schedscope
