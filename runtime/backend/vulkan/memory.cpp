#include "runtime/backend/vulkan/memory.h"

#include <cstring>

namespace schedscope::vulkan {

VulkanBuffer::VulkanBuffer(const BufferType& type, std::shared_ptr<Context> context, size_t bytes, MemoryKind kind)
    : type_(type), context_(std::move(context)), size_(bytes), kind_(kind),
      allocation_(context_->allocate((bytes + largest_alignment - 1) / largest_alignment * largest_alignment, kind)) {}

VulkanBuffer::~VulkanBuffer() { context_->free(allocation_); }

void VulkanBuffer::write(size_t offset, const void* source, size_t bytes) {
    if (mapped() != nullptr) {
        std::memcpy(mapped() + offset, source, bytes);
    } else if (bytes > 0) {
        context_->transfer().upload(allocation_.buffer, offset, source, bytes);
    }
}

void VulkanBuffer::read(size_t offset, void* target, size_t bytes) {
    if (mapped() != nullptr) {
        std::memcpy(target, mapped() + offset, bytes);
    } else if (bytes > 0) {
        context_->transfer().download(allocation_.buffer, offset, target, bytes);
    }
}

void VulkanBuffer::clear(uint8_t value) {
    if (mapped() != nullptr) {
        std::memset(mapped(), value, size_);
    } else {
        context_->transfer().fill(allocation_.buffer, size_, value);
    }
}

bool VulkanBuffer::copy_from(size_t offset, Buffer& source, size_t source_offset, size_t bytes) {
    auto* other = dynamic_cast<VulkanBuffer*>(&source);
    if (other == nullptr || !other->is_of(*context_)) {
        return false;
    }
    if (bytes > 0) {
        context_->transfer().copy(other->allocation_.buffer, source_offset, allocation_.buffer, offset, bytes);
    }
    return true;
}

} // namespace schedscope::vulkan
