#include "runtime/backend/cpu/fused_kernels.h"

namespace schedscope::cpu {

namespace {

// The groups that the CPU runs as one kernel.
constexpr KernelEntry lines[] = {
    {fused::rms_norm_mul, run_rms_norm_mul},
};

class CpuFusedKernels final : public FusedKernels {
public:
    bool has(std::string_view kernel) const override { return fused_kernel(kernel) != nullptr; }
    std::string_view why_not(std::string_view, std::span<Tensor* const>) const override { return {}; }
};

} // namespace

const FusedKernels& fused_kernels() noexcept {
    static const CpuFusedKernels kernels;
    return kernels;
}

Kernel fused_kernel(std::string_view name) noexcept {
    for (const KernelEntry& line : lines) {
        if (line.name == name) {
            return line.run;
        }
    }
    return nullptr;
}

} // namespace schedscope::cpu
