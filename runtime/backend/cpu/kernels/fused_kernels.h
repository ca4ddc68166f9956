#pragma once

#include "runtime/backend/cpu/kernels/kernel.h"
#include "runtime/backend/order/fusion.h"

namespace schedscope::cpu {

/// What the CPU fuses.
const FusedKernels& fused_kernels() noexcept;
/// The code of a kernel that fused_kernels() has.
Kernel fused_kernel(std::string_view name) noexcept;

} // namespace schedscope::cpu
