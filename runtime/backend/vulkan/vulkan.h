#pragma once

#include "runtime/backend/device.h"
#include "runtime/backend/vulkan/features.h"

#include <memory>
#include <string>
#include <vector>

namespace schedscope {

/// Every Vulkan device of the machine, in the driver's order: Vulkan0, Vulkan1, … Why there is none goes to `missing` as a
/// sentence for people. With SCHEDSCOPE_VULKAN_LIKE_HARDWARE=1 in the environment a software device found now works as hardware
/// does (large workgroups, products in tiles): slower, for tests.
std::vector<std::unique_ptr<Device>> find_vulkan_devices(std::vector<std::string>& missing);

/// One that is not here and has all features: it answers as they do and has memory of that size, but allocates and computes
/// nothing.
std::unique_ptr<Device> describe_vulkan_device(std::string name, size_t memory_bytes);

/// Messages of the validation layer so far (SCHEDSCOPE_VULKAN_VALIDATION=1 turns it on).
int vulkan_validation_messages() noexcept;

} // namespace schedscope
