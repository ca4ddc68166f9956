#pragma once

#include "runtime/backend/vulkan/instance.h"

#include <array>
#include <cstddef>
#include <mutex>

namespace schedscope::vulkan {

class Context;

/// A piece of device memory with its buffer.
struct Allocation {
    VkBuffer buffer = VK_NULL_HANDLE;
    VkDeviceMemory memory = VK_NULL_HANDLE;
    void* mapped = nullptr; ///< null where the host does not address it
};

/// Copies between the host and memory that it does not address, and within the device's; each call returns when all is done.
/// Bytes travel in pieces through a ring of staging buffers, so that the host fills or empties one while the device copies
/// another. Thread-safe; throws Error(device).
class StagingTransfer {
public:
    explicit StagingTransfer(Context& context) : context_(context) {}
    ~StagingTransfer();
    StagingTransfer(const StagingTransfer&) = delete;
    StagingTransfer& operator=(const StagingTransfer&) = delete;

    void upload(VkBuffer target, size_t offset, const void* source, size_t bytes);
    void download(VkBuffer source, size_t offset, void* target, size_t bytes);
    void copy(VkBuffer source, size_t source_offset, VkBuffer target, size_t target_offset, size_t bytes);
    /// From the buffer's begin; bytes rounded up to whole words.
    void fill(VkBuffer target, size_t bytes, uint8_t value);

private:
    static constexpr size_t piece_bytes = size_t{4} << 20U;
    struct Slot {
        Allocation staging;
        VkCommandBuffer commands = VK_NULL_HANDLE;
        VkFence fence = VK_NULL_HANDLE;
        bool running = false;
    };

    void prepare();
    template <typename Record> void submit(Slot& slot, Record record);
    void wait(Slot& slot);

    Context& context_;
    std::mutex mutex_; ///< guards the rest
    VkCommandPool pool_ = VK_NULL_HANDLE;
    std::array<Slot, 3> slots_;
};

} // namespace schedscope::vulkan
