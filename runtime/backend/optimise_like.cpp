#include "runtime/backend/optimise_like.h"

#include "runtime/backend/cpu/kernels/fused_kernels.h"
#include "runtime/backend/device.h"
#include "runtime/backend/vulkan/vulkan_backend.h"

namespace schedscope {

void optimise_like(std::string_view device_kind, SplitGraph& split) {
    const bool software = device_kind == device_kind_name(DeviceKind::software);
    if (software || device_kind == device_kind_name(DeviceKind::gpu)) {
        vulkan::optimise_split(split, vulkan::full_dispatch_options(software));
    } else if (device_kind == device_kind_name(DeviceKind::cpu)) {
        find_groups(split, cpu::fused_kernels());
    }
}

} // namespace schedscope
