#pragma once

#include "runtime/backend/device.h"
#include "runtime/backend/vulkan/context.h"
#include "runtime/backend/vulkan/dispatch.h"
#include "runtime/backend/vulkan/submission.h"

#include <memory>
#include <string>
#include <vector>

namespace schedscope::vulkan {

/// What a backend that launches with these options does with its splits: for those that are only described, too.
void optimise_split(SplitGraph& split, const DispatchOptions& options);
/// The options of a device with all features; `software`: of a driver that runs shaders on the host.
DispatchOptions full_dispatch_options(bool software) noexcept;

/// A queue of work on a Vulkan device. `compute` records a range of a split into one command buffer and submits it; copies that
/// were started before travel in the same one. Several submissions may be under way. All backends of a device share one queue,
/// which runs in order.
class VulkanBackend final : public Backend {
public:
    VulkanBackend(Device& device, std::shared_ptr<Context> context, const BackendOptions& options);
    ~VulkanBackend() override;

    std::string_view name() const noexcept override { return name_; }
    Device& device() const noexcept override { return device_; }
    /// Fuses what there are shaders for, and brings nodes together that need no barrier between them.
    void optimise(SplitGraph& split) override;
    void prepare(const SplitGraph& split) override;
    void compute(const SplitGraph& split, int32_t first, int32_t count, KernelLog* log) override;
    void synchronize() override;

    /// To memory of this device: from other memory of it; from the host's where the device has its own (the bytes are taken along
    /// at once).
    bool copy_async(const Tensor& source, const Tensor& target) override;

    /// Barriers between the pieces of work of the submission that `compute` made last: 0 where all of them could run at once.
    int32_t barriers() const noexcept { return n_barriers_; }

    std::unique_ptr<Event> make_event() override;
    void record(Event& event) override;
    void wait(Event& event) override;
    void synchronize(Event& event) override;

private:
    void collect(const SplitGraph& split, int32_t first, int32_t count);
    bool copy_to(const Tensor& source, VulkanBuffer& to, size_t offset);
    Submission& open();
    void submit_open();
    /// Waits for submissions until number `until` is done. When that fails nothing is under way any more.
    void finish(uint64_t until);
    void abandon() noexcept;

    Device& device_;
    std::shared_ptr<Context> context_;
    std::string name_;
    bool fusion_;

    std::vector<Dispatch> dispatches_; ///< of the range that is recorded
    std::vector<NodeDispatches> pieces_;

    std::vector<std::unique_ptr<Submission>> idle_;
    std::unique_ptr<Submission> open_;                   ///< begun, not yet submitted
    std::vector<std::unique_ptr<Submission>> under_way_; ///< few, in order; the last one has number n_submitted_
    uint64_t n_submitted_ = 0;
    uint64_t n_done_ = 0;
    int32_t n_barriers_ = 0;
};

} // namespace schedscope::vulkan
