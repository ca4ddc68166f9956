#pragma once

#include "runtime/planner/answer.h"
#include "runtime/tensor/tensor.h"

#include <cstddef>
#include <cstdint>

namespace schedscope {

/// What a Vulkan device can do, as far as an answer depends on it.
struct VulkanFeatures {
    bool storage_16bit = false;             ///< buffers of 16-bit values: half floats and quantised blocks
    uint64_t max_storage_range = 1U << 27U; ///< bytes of one tensor
};

/// Of a device that has everything: for devices that are only described.
VulkanFeatures all_vulkan_features() noexcept;

/// Can our shaders run this on such a device? Depends on nothing else.
Answer vulkan_supports_op(const VulkanFeatures& features, const Tensor& node);

} // namespace schedscope
