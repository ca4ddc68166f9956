#pragma once

#include "runtime/backend/order/fusion.h"
#include "runtime/backend/vulkan/dispatch.h"

#include <span>
#include <string_view>

namespace schedscope::vulkan {

/// The shaders' say about groups. Beside what fusion.h lists: "device limit".
class VulkanFusedKernels final : public FusedKernels {
public:
    explicit VulkanFusedKernels(const DispatchOptions& options) : options_(options) {}
    bool has(std::string_view) const override { return true; }
    std::string_view why_not(std::string_view kernel, std::span<Tensor* const> nodes) const override;

private:
    DispatchOptions options_;
};

/// The launch of a group that find_groups made, asking these kernels. Results between are not written.
Dispatch fused_dispatch(std::string_view kernel, std::span<Tensor* const> nodes, const DispatchOptions& options);

} // namespace schedscope::vulkan
