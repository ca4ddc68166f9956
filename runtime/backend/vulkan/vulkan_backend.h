#pragma once

#include "runtime/backend/device.h"
#include "runtime/backend/vulkan/context.h"
#include "runtime/backend/vulkan/dispatch.h"

#include <memory>
#include <string>
#include <vector>

namespace schedscope::vulkan {

/// What is bound for a tensor: its bytes, from an aligned place on. Dispatches with windows that overlap count as dependent.
struct Window {
    VkBuffer buffer = VK_NULL_HANDLE;
    uint64_t start = 0, end = 0;
};

/// A queue of work on a Vulkan device. `compute` records the nodes' shaders into one command buffer, with barriers only where a shader reads or overwrites what
/// an earlier one wrote, and submits it; a second `compute` waits for the first.
class VulkanBackend final : public Backend {
public:
    VulkanBackend(Device& device, std::shared_ptr<Context> context, const BackendOptions& options);
    ~VulkanBackend() override;

    std::string_view name() const noexcept override { return name_; }
    Device& device() const noexcept override { return device_; }
    /// Fuses RMS_NORM with the MUL behind it: kernel "rms_norm_mul".
    void optimise(SplitGraph& split) override;
    void compute(const SplitGraph& split, int32_t first, int32_t count, std::vector<KernelTime>* times) override;
    void synchronize() override;

private:
    struct Piece { ///< nodes that are run by dispatches [first, end)
        int32_t node = 0, count = 1;
        size_t first = 0, end = 0;
    };
    void collect(const SplitGraph& split, int32_t first, int32_t count);
    void make_room(size_t n);
    void release() noexcept;
    void record(bool timed);
    void bind(size_t index);
    Window window_of(const Tensor& t) const noexcept;
    bool needs_barrier(const Dispatch& dispatch);

    Device& device_;
    std::shared_ptr<Context> context_;
    std::string name_;
    bool fusion_;
    bool timestamps_;

    std::vector<Dispatch> dispatches_;
    std::vector<Piece> pieces_;
    std::vector<Window> written_, read_; ///< since the last barrier

    size_t room_ = 0; ///< dispatches that the objects below are made for
    Allocation nodes_;
    VkDescriptorPool sets_pool_ = VK_NULL_HANDLE;
    std::vector<VkDescriptorSet> sets_;
    VkQueryPool queries_ = VK_NULL_HANDLE;
    VkCommandPool commands_pool_ = VK_NULL_HANDLE;
    VkCommandBuffer commands_ = VK_NULL_HANDLE;
    VkFence fence_ = VK_NULL_HANDLE;

    bool running_ = false;
    int64_t submitted_ns_ = 0;
    std::vector<KernelTime>* times_ = nullptr; ///< wanted by the work that is running
};

} // namespace schedscope::vulkan
