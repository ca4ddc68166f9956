#pragma once

#include "runtime/backend/cpu/kernels/kernel.h"
#include "runtime/backend/cpu/kernels/rounded_columns.h"
#include "runtime/backend/cpu/thread_pool.h"
#include "runtime/backend/cpu/vectors/vector_ops.h"
#include "runtime/backend/device.h"

#include <memory>
#include <string>
#include <vector>

namespace schedscope::cpu {

/// Runs nodes one after the other, each on as many threads as it is worth; returns when all is done.
class CpuBackend final : public Backend {
public:
    CpuBackend(Device& device, const BackendOptions& options, const VectorOps& vector);

    std::string_view name() const noexcept override { return name_; }
    Device& device() const noexcept override { return device_; }
    /// Finds the groups that fused_kernels() has kernels for.
    void optimise(SplitGraph& split) override;
    void expect(int64_t n_tokens) override { pool_->expect_batch(n_tokens > 1); }
    void compute(const SplitGraph& split, int32_t first, int32_t count, KernelLog* log) override;

private:
    void require_readable(const Tensor& node) const;
    bool run(std::span<Tensor* const> nodes, Kernel kernel); ///< true: some columns were multiplied in BF16
    void round_columns(std::span<Tensor* const> nodes, int n_parts);
    std::string_view name_of(const KernelEntry& kernel, std::span<Tensor* const> nodes, bool in_bf16) const;

    Device& device_;
    std::string name_;
    bool fusion_;
    Products products_;
    const VectorOps& vector_;
    bool multiplies_laid_out_;
    std::shared_ptr<ThreadPool> pool_;
    std::vector<Scratch> scratch_; ///< by part
    std::vector<float> common_floats_;
    SharedColumns columns_;
};

} // namespace schedscope::cpu
