#include "runtime/backend/cpu/kernels/fused_kernels.h"

#include "runtime/backend/cpu/kernels/activation.h"
#include "runtime/backend/order/fusion_parts.h"

namespace schedscope::cpu {

namespace {

// The groups that the CPU runs as one kernel.
constexpr KernelEntry fused_lines[] = {
    {fused::rms_norm_mul, run_norm_group},     {fused::rms_norm_mul_add, run_norm_group},
    {fused::norm_mul, run_norm_group},         {fused::norm_mul_add, run_norm_group},
    {fused::add_chain, run_add_chain},         {fused::mul_mat_add, run_mul_mat_add},
    {fused::mul_mat_add_act, run_mul_mat_add}, {fused::gate_up, run_gate_up},
    {fused::rope_set_rows, run_rope_set_rows},
};

/// One matrix; of any number of columns, because each stretch of rows is finished while it is near. Then the order of nodes, and
/// so their memory, is the same for all batches.
std::string_view why_not_product(const Tensor& product) noexcept { return product.ne[2] * product.ne[3] != 1 ? "shapes" : ""; }

class CpuFusedKernels final : public FusedKernels {
public:
    bool has(std::string_view kernel) const override { return fused_kernel(kernel) != nullptr; }
    std::string_view why_not(std::string_view kernel, std::span<Tensor* const> nodes) const override {
        if (kernel == fused::mul_mat_add || kernel == fused::mul_mat_add_act) {
            const fused::Product parts = fused::product_parts(nodes);
            return parts.act.has_value() && !has_activation(*parts.act) ? "types" : why_not_product(*parts.product);
        }
        if (kernel == fused::gate_up) {
            const fused::GateUp parts = fused::gate_up_parts(nodes);
            return !has_gate(parts.act) ? "types" : why_not_product(*parts.gate);
        }
        return {};
    }
};

} // namespace

const FusedKernels& fused_kernels() noexcept {
    static const CpuFusedKernels kernels;
    return kernels;
}

Kernel fused_kernel(std::string_view name) noexcept {
    for (const KernelEntry& line : fused_lines) {
        if (line.name == name) {
            return line.run;
        }
    }
    return nullptr;
}

} // namespace schedscope::cpu
