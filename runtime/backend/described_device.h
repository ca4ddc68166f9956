#pragma once

#include "runtime/backend/backend.h"
#include "runtime/backend/device.h"
#include "runtime/planner/device_profile.h"

#include <memory>
#include <string_view>

namespace schedscope {

/// A device that is not here: it has that name and that much memory, and supports what our Vulkan backend supports on a device
/// with all features, or answers as a device did when a trace was recorded, which `profiles` reads. It can be planned with; its
/// buffers have sizes and no memory, and nothing runs on it. Throws Error.
std::unique_ptr<Device> describe_device(const DeviceDescription& description, const ProfileSource& profiles);

/// The same of our Vulkan backend, for those who plan without tensors.
std::shared_ptr<const DeviceProfile> profile_of_vulkan(const DeviceDescription& description);

/// Orders and groups a split's nodes as a backend of a device of this kind (device_kind_name) would, without the device: for
/// plans that are made from records. A kind that has no step of its own leaves them as they are.
void optimise_like(std::string_view device_kind, SplitGraph& split);

} // namespace schedscope
