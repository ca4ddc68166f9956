#include "runtime/backend/optimise_like.h"

#include "runtime/backend/cpu/fused_kernels.h"
#include "runtime/backend/device.h"
#include "runtime/backend/vulkan/vulkan_backend.h"

namespace schedscope {

void optimise_like(std::string_view device_kind, SplitGraph& split) {
    if (device_kind == device_kind_name(DeviceKind::gpu) || device_kind == device_kind_name(DeviceKind::software)) {
        vulkan::optimise_split(split);
    } else if (device_kind == device_kind_name(DeviceKind::cpu)) {
        find_groups(split, cpu::fused_kernels());
    }
}

} // namespace schedscope
