#pragma once

#include "runtime/backend/buffer.h"
#include "runtime/backend/vulkan/context.h"

#include <functional>
#include <memory>
#include <string>

namespace schedscope::vulkan {

/// Memory of a device: its own ("Vulkan0") or host memory that it reads and writes ("Vulkan0_Host").
class VulkanBuffer final : public Buffer {
public:
    VulkanBuffer(const BufferType& type, std::shared_ptr<Context> context, size_t bytes, MemoryKind kind);
    ~VulkanBuffer() override;

    const BufferType& type() const noexcept override { return type_; }
    size_t size() const noexcept override { return size_; }
    /// Only of host memory: the scheduler must not think that the CPU computes on the device's.
    std::byte* host_base() noexcept override { return kind_ == MemoryKind::host ? mapped() : nullptr; }
    void write(size_t offset, const void* source, size_t bytes) override;
    void read(size_t offset, void* target, size_t bytes) override;
    void clear(uint8_t value) override;
    bool copy_from(size_t offset, Buffer& source, size_t source_offset, size_t bytes) override;

    VkBuffer handle() const noexcept { return allocation_.buffer; }
    bool is_of(const Context& context) const noexcept { return context_.get() == &context; }

private:
    std::byte* mapped() const noexcept { return static_cast<std::byte*>(allocation_.mapped); }

    const BufferType& type_;
    std::shared_ptr<Context> context_;
    size_t size_;
    MemoryKind kind_;
    Allocation allocation_;
};

class VulkanBufferType final : public BufferType {
public:
    /// `context` gives the device's context, made at first use.
    VulkanBufferType(std::string name, MemoryKind kind, size_t alignment, size_t max_size,
                     std::function<std::shared_ptr<Context>()> context)
        : name_(std::move(name)), kind_(kind), alignment_(alignment), max_size_(max_size), context_(std::move(context)) {}

    std::string_view name() const noexcept override { return name_; }
    bool is_host() const noexcept override { return kind_ == MemoryKind::host; }
    size_t alignment() const noexcept override { return alignment_; }
    size_t max_size() const noexcept override { return max_size_; }
    std::unique_ptr<Buffer> allocate(size_t bytes) const override {
        return std::make_unique<VulkanBuffer>(*this, context_(), bytes, kind_);
    }

private:
    std::string name_;
    MemoryKind kind_;
    size_t alignment_, max_size_;
    std::function<std::shared_ptr<Context>()> context_;
};

} // namespace schedscope::vulkan
