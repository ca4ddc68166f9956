#pragma once

#include "runtime/backend/backend.h"
#include "runtime/backend/vulkan/dispatch.h"
#include "runtime/backend/vulkan/features.h"
#include "runtime/backend/vulkan/instance.h"
#include "runtime/backend/vulkan/staging_transfer.h"

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>

namespace schedscope::vulkan {

constexpr uint32_t n_bindings = 6;          ///< parameters, four sources, the result: shaders/parts/common.glsl
constexpr uint32_t n_more_bindings = 5;     ///< Dispatch::more, for fused kernels; where the device binds as many
constexpr uint64_t largest_alignment = 256; ///< no device asks for more for storage buffers

/// What is known of a device before it is used.
struct PhysicalDevice {
    VkPhysicalDevice handle = VK_NULL_HANDLE;
    std::string name, driver;
    bool software = false;
    bool barriers_are_dear = false; ///< as on software drivers: workgroups of one subgroup, products without tiles
    bool unified_memory = false;    ///< device memory that the host can address
    size_t memory_bytes = 0;
    size_t buffer_alignment = 32; ///< of tensors in buffers, and of what is bound
    uint32_t queue_family = 0;
    uint32_t timestamp_bits = 0;
    double timestamp_ns = 1;   ///< per tick
    bool reads_clocks = false; ///< its clock and the host's in one moment
    uint64_t max_allocation = 0;
    uint32_t subgroup_size = 0;
    uint32_t max_bindings = n_bindings; ///< storage buffers of a shader
    VkPhysicalDeviceMemoryProperties memory{};
    VulkanFeatures features;
};

/// Nothing when the device can't run our shaders; then `why` says so.
std::optional<PhysicalDevice> examine(const Instance& instance, VkPhysicalDevice handle, std::string& why);

/// A device by its name and its driver's: "NVIDIA H100, driver X", but once what the name says already: "llvmpipe (LLVM 15.0.6)".
std::string device_words(const std::string& name, const std::string& driver);

/// parameters: written by the host, read by shaders, near to the device where that can be had.
enum class MemoryKind : uint8_t { device, host, parameters };

/// The device's clock and the recorder's in one moment.
struct ClockReading {
    uint64_t ticks = 0;
    int64_t ns = 0;
};

/// A logical device: one queue, the shaders' pipelines, memory. Shared by the buffers and backends on it. Thread-safe.
class Context {
public:
    /// Throws Error(device).
    Context(std::shared_ptr<Instance> instance, const PhysicalDevice& physical, std::string name);
    ~Context();
    Context(const Context&) = delete;
    Context& operator=(const Context&) = delete;

    const DeviceFunctions& f() const noexcept { return functions_; }
    VkDevice device() const noexcept { return device_; }
    const PhysicalDevice& physical() const noexcept { return physical_; }
    const std::string& name() const noexcept { return name_; }
    VkPipelineLayout pipeline_layout() const noexcept { return pipeline_layout_; }
    VkDescriptorSetLayout set_layout() const noexcept { return set_layout_; }
    DispatchOptions dispatch_options() const noexcept;
    uint32_t bindings() const noexcept { return bindings_; } ///< of a descriptor set

    /// Throws Error(device) "WHAT: WHY" unless it is a success.
    void expect(VkResult result, const std::string& what);
    /// The driver gave the device up: this context is of no use any more, a new one may be.
    bool is_lost() const noexcept { return lost_; }

    /// Made at first use, and then added to `compilation`. Throws Error(device) when the driver can't compile it.
    VkPipeline pipeline(const Dispatch& dispatch, Compilation& compilation);
    /// Throws Error(device) naming the bytes.
    Allocation allocate(size_t bytes, MemoryKind kind);
    void free(Allocation& allocation) noexcept;
    /// One submission at a time reaches the queue.
    void submit(VkCommandBuffer commands, VkFence fence);
    /// Until the queue has nothing to do; a lost device has nothing to do.
    void wait_idle() noexcept;
    /// For memory that the host does not address.
    StagingTransfer& transfer() noexcept { return *transfer_; }
    /// Nothing where the device can't.
    std::optional<ClockReading> read_clocks() const;
    /// A difference of ticks; counters that wrap are counted right.
    int64_t ticks_to_ns(uint64_t difference) const noexcept;

private:
    void make_layouts();
    void destroy() noexcept;
    std::optional<uint32_t> memory_type(uint32_t allowed, VkMemoryPropertyFlags wanted) const;

    std::shared_ptr<Instance> instance_;
    PhysicalDevice physical_;
    std::string name_;
    VkDevice device_ = VK_NULL_HANDLE;
    DeviceFunctions functions_;
    VkQueue queue_ = VK_NULL_HANDLE;
    VkDescriptorSetLayout set_layout_ = VK_NULL_HANDLE;
    VkPipelineLayout pipeline_layout_ = VK_NULL_HANDLE;
    uint32_t bindings_ = n_bindings;

    std::atomic<bool> lost_ = false;
    std::mutex queue_mutex_;
    std::mutex pipeline_mutex_;
    using PipelineKey =
        std::tuple<std::string_view, uint32_t, uint32_t>; ///< shader (a constant of the program), variant, afterwards
    std::map<PipelineKey, VkPipeline> pipelines_;

    std::unique_ptr<StagingTransfer> transfer_;
};

} // namespace schedscope::vulkan
