#include "runtime/backend/vulkan/staging_transfer.h"

#include "runtime/backend/vulkan/context.h"

#include <algorithm>
#include <cstring>

namespace schedscope::vulkan {

StagingTransfer::~StagingTransfer() {
    const DeviceFunctions& f = context_.f();
    for (Slot& slot : slots_) {
        f.vkDestroyFence(context_.device(), slot.fence, nullptr);
        context_.free(slot.staging);
    }
    f.vkDestroyCommandPool(context_.device(), pool_, nullptr);
}

void StagingTransfer::prepare() {
    if (slots_.back().staging.buffer != VK_NULL_HANDLE) {
        return;
    }
    const DeviceFunctions& f = context_.f();
    if (pool_ == VK_NULL_HANDLE) {
        VkCommandPoolCreateInfo pool{};
        pool.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO;
        pool.flags = VK_COMMAND_POOL_CREATE_RESET_COMMAND_BUFFER_BIT;
        pool.queueFamilyIndex = context_.physical().queue_family;
        context_.expect(f.vkCreateCommandPool(context_.device(), &pool, nullptr, &pool_), context_.name());
    }
    for (Slot& slot : slots_) {
        if (slot.commands == VK_NULL_HANDLE) {
            VkCommandBufferAllocateInfo commands{};
            commands.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO;
            commands.commandPool = pool_;
            commands.level = VK_COMMAND_BUFFER_LEVEL_PRIMARY;
            commands.commandBufferCount = 1;
            context_.expect(f.vkAllocateCommandBuffers(context_.device(), &commands, &slot.commands), context_.name());
        }
        if (slot.fence == VK_NULL_HANDLE) {
            VkFenceCreateInfo fence{};
            fence.sType = VK_STRUCTURE_TYPE_FENCE_CREATE_INFO;
            context_.expect(f.vkCreateFence(context_.device(), &fence, nullptr, &slot.fence), context_.name());
        }
        if (slot.staging.buffer == VK_NULL_HANDLE) {
            slot.staging = context_.allocate(piece_bytes, MemoryKind::host);
        }
    }
}

template <typename Record> void StagingTransfer::submit(Slot& slot, Record record) {
    const DeviceFunctions& f = context_.f();
    VkCommandBufferBeginInfo begin{};
    begin.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO;
    begin.flags = VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT;
    context_.expect(f.vkBeginCommandBuffer(slot.commands, &begin), context_.name());
    // Copies see what was written before, and are seen by what comes after: shaders, other copies, the host.
    constexpr VkPipelineStageFlags work = VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT | VK_PIPELINE_STAGE_TRANSFER_BIT;
    VkMemoryBarrier barrier{};
    barrier.sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER;
    barrier.srcAccessMask = VK_ACCESS_SHADER_WRITE_BIT | VK_ACCESS_TRANSFER_WRITE_BIT;
    barrier.dstAccessMask = VK_ACCESS_TRANSFER_READ_BIT | VK_ACCESS_TRANSFER_WRITE_BIT;
    f.vkCmdPipelineBarrier(slot.commands, work, VK_PIPELINE_STAGE_TRANSFER_BIT, 0, 1, &barrier, 0, nullptr, 0, nullptr);
    record(slot.commands);
    barrier.srcAccessMask = VK_ACCESS_TRANSFER_WRITE_BIT;
    barrier.dstAccessMask = VK_ACCESS_HOST_READ_BIT;
    f.vkCmdPipelineBarrier(slot.commands, VK_PIPELINE_STAGE_TRANSFER_BIT, VK_PIPELINE_STAGE_HOST_BIT, 0, 1, &barrier, 0, nullptr,
                           0, nullptr);
    try {
        context_.expect(f.vkEndCommandBuffer(slot.commands), context_.name());
        context_.submit(slot.commands, slot.fence);
    } catch (...) {
        f.vkResetCommandBuffer(slot.commands, 0); // so that it can be begun again
        throw;
    }
    slot.running = true;
}

void StagingTransfer::wait(Slot& slot) {
    if (!slot.running) {
        return;
    }
    const DeviceFunctions& f = context_.f();
    context_.expect(f.vkWaitForFences(context_.device(), 1, &slot.fence, VK_TRUE, UINT64_MAX), context_.name());
    context_.expect(f.vkResetFences(context_.device(), 1, &slot.fence), context_.name());
    slot.running = false;
}

void StagingTransfer::upload(VkBuffer target, size_t offset, const void* source, size_t bytes) {
    const std::lock_guard lock(mutex_);
    prepare();
    size_t next = 0;
    for (size_t done = 0; done < bytes; done += piece_bytes, next = (next + 1) % slots_.size()) {
        Slot& slot = slots_[next];
        wait(slot);
        const size_t piece = std::min(piece_bytes, bytes - done);
        std::memcpy(slot.staging.mapped, static_cast<const std::byte*>(source) + done, piece);
        submit(slot, [&](VkCommandBuffer commands) {
            const VkBufferCopy region{0, offset + done, piece};
            context_.f().vkCmdCopyBuffer(commands, slot.staging.buffer, target, 1, &region);
        });
    }
    for (Slot& slot : slots_) {
        wait(slot);
    }
}

void StagingTransfer::download(VkBuffer source, size_t offset, void* target, size_t bytes) {
    const std::lock_guard lock(mutex_);
    prepare();
    size_t begun = 0;
    const auto begin_piece = [&](size_t number) {
        Slot& slot = slots_[number % slots_.size()];
        wait(slot);
        const size_t piece = std::min(piece_bytes, bytes - begun);
        submit(slot, [&](VkCommandBuffer commands) {
            const VkBufferCopy region{offset + begun, 0, piece};
            context_.f().vkCmdCopyBuffer(commands, source, slot.staging.buffer, 1, &region);
        });
        begun += piece;
    };
    size_t ahead = 0;
    while (ahead < slots_.size() && begun < bytes) {
        begin_piece(ahead++);
    }
    for (size_t number = 0, done = 0; done < bytes; ++number, done += piece_bytes) {
        Slot& slot = slots_[number % slots_.size()];
        wait(slot);
        std::memcpy(static_cast<std::byte*>(target) + done, slot.staging.mapped, std::min(piece_bytes, bytes - done));
        if (begun < bytes) {
            begin_piece(ahead++);
        }
    }
}

void StagingTransfer::copy(VkBuffer source, size_t source_offset, VkBuffer target, size_t target_offset, size_t bytes) {
    const std::lock_guard lock(mutex_);
    prepare();
    wait(slots_.front()); // it runs only where an earlier call failed
    submit(slots_.front(), [&](VkCommandBuffer commands) {
        const VkBufferCopy region{source_offset, target_offset, bytes};
        context_.f().vkCmdCopyBuffer(commands, source, target, 1, &region);
    });
    wait(slots_.front());
}

void StagingTransfer::fill(VkBuffer target, size_t bytes, uint8_t value) {
    const std::lock_guard lock(mutex_);
    prepare();
    wait(slots_.front()); // it runs only where an earlier call failed
    submit(slots_.front(), [&](VkCommandBuffer commands) {
        context_.f().vkCmdFillBuffer(commands, target, 0, (bytes + 3) / 4 * 4, value * 0x01010101U);
    });
    wait(slots_.front());
}

} // namespace schedscope::vulkan
