#pragma once

#include "runtime/backend/device.h"

#include <memory>
#include <string>
#include <vector>

namespace schedscope {

/// Every Vulkan device of the machine, in the driver's order: Vulkan0, Vulkan1, … Why there is none goes to `missing` as a sentence for people.
std::vector<std::unique_ptr<Device>> find_vulkan_devices(std::vector<std::string>& missing);

} // namespace schedscope
