#pragma once

#include "runtime/backend/backend.h"
#include "runtime/backend/vulkan/context.h"
#include "runtime/backend/vulkan/dispatch.h"
#include "runtime/backend/vulkan/hazards.h"

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace schedscope::vulkan {

class VulkanBuffer;

/// Nodes that are run by dispatches [first, end).
struct NodeDispatches {
    int32_t node = 0, count = 1;
    size_t first = 0, end = 0;
    std::string_view kernel; ///< constant of the program
};

/// One command buffer on its way through the queue, with all that it needs until it is done: parameters, descriptor sets, staged
/// bytes, timestamps, a fence. Barriers stand only where one piece of work needs another's result or overwrites what it reads.
/// After `wait` it can be begun again. Every function throws Error(device).
class Submission {
public:
    Submission(Context& context, const std::string& name);
    ~Submission();
    Submission(const Submission&) = delete;
    Submission& operator=(const Submission&) = delete;

    void begin();
    /// On the device.
    void copy(const VulkanBuffer& source, size_t source_offset, VulkanBuffer& target, size_t target_offset, size_t bytes);
    /// Takes the bytes along: the source may change afterwards. At most `staging_left`.
    void stage(const std::byte* source, VulkanBuffer& target, size_t target_offset, size_t bytes);
    size_t staging_left() const noexcept { return staging_bytes - staged_; }
    /// log: null, or where an entry for each piece goes: at once, or, where they are timed, in `wait`; so does their span.
    /// Returns what was compiled for it.
    Compilation run(std::span<const NodeDispatches> pieces, std::span<Dispatch> dispatches, KernelLog* log);
    /// Barriers that stand between its pieces of work so far.
    int32_t barriers() const noexcept { return n_barriers_; }
    void submit();
    /// For the device to be done, without waiting.
    bool is_done() const;
    void wait();

private:
    static constexpr size_t staging_bytes = size_t{16} << 20U;

    void make_room(size_t n);
    void release_room() noexcept;
    BoundBytes window_of(const Tensor& t) const noexcept;
    bool needs_barrier(const Dispatch& dispatch);
    void bind(size_t set, size_t record, Dispatch& dispatch);
    void barrier();
    void barrier_between();
    /// When each of them ran, by their stamps, of which each has two.
    void read_times(std::span<KernelTime> ran);

    Context& context_;
    std::string name_;
    VkCommandPool pool_ = VK_NULL_HANDLE;
    VkCommandBuffer commands_ = VK_NULL_HANDLE;
    VkFence fence_ = VK_NULL_HANDLE;
    Hazards hazards_;
    int32_t n_barriers_ = 0;
    Allocation staging_;
    size_t staged_ = 0;

    size_t room_ = 0; ///< records of parameters that the objects below are made for; a dispatch has one, or two
    Allocation parameters_;
    VkDescriptorPool sets_pool_ = VK_NULL_HANDLE;
    std::vector<VkDescriptorSet> sets_;
    VkQueryPool queries_ = VK_NULL_HANDLE;

    bool running_ = false;
    KernelLog* timed_ = nullptr;      ///< gets times in `wait`: of each piece, or their span
    std::vector<KernelTime> kernels_; ///< what `timed_` gets of each piece, still without times
    std::vector<uint64_t> ticks_;     ///< as read from `queries_`
    int64_t submitted_ns_ = 0;
};

} // namespace schedscope::vulkan
