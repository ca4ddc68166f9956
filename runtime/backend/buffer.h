#pragma once

#include "runtime/tensor/tensor.h"

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

namespace schedscope {

class BufferType;

/// One allocation. Offsets and sizes in bytes. Any thread may read and write; order against running kernels is the caller's
/// (Backend::synchronize first).
class Buffer {
public:
    virtual ~Buffer() = default;
    Buffer() = default;
    Buffer(const Buffer&) = delete;
    Buffer& operator=(const Buffer&) = delete;

    virtual const BufferType& type() const noexcept = 0;
    virtual size_t size() const noexcept = 0;
    /// Address of offset 0 for the host, or null when it can't address this memory. Then `write`/`read` stage.
    virtual std::byte* host_base() noexcept = 0;
    virtual void write(size_t offset, const void* source, size_t bytes) = 0;
    virtual void read(size_t offset, void* target, size_t bytes) = 0;
    virtual void clear(uint8_t value) = 0;
    /// The tensor lies here from now on, at its offset: said before it is written, for memory in which its layout matters.
    virtual void hold(const Tensor& /*t*/) {}
    /// Keeps these bytes from being paged out as long as the buffer lives. Returns why it can't; empty: they stay, or are of a
    /// device, whose memory is not paged.
    virtual std::string lock(size_t /*offset*/, size_t /*bytes*/) { return {}; }
    /// Copies without passing through the host. False when this pair of buffers can't; the caller then stages.
    virtual bool copy_from(size_t /*offset*/, Buffer& /*source*/, size_t /*source_offset*/, size_t /*bytes*/) { return false; }

    BufferUsage usage = BufferUsage::any;
};

/// A kind of memory. One object per kind, alive as long as its device's registry; compared by address.
class BufferType {
public:
    virtual ~BufferType() = default;
    virtual std::string_view name() const noexcept = 0; ///< "CPU", "Vulkan0", "Vulkan0_Host"
    virtual bool is_host() const noexcept = 0;          ///< the CPU backend can compute on it
    virtual size_t alignment() const noexcept = 0;
    virtual size_t max_size() const noexcept = 0; ///< of one buffer; SIZE_MAX: unlimited
    /// Throws Error(device) naming the type and the bytes when there is no memory.
    virtual std::unique_ptr<Buffer> allocate(size_t bytes) const = 0;
};

/// Host address of the data, or null when there is none or the host can't address it.
inline std::byte* host_data(const Tensor& t) noexcept {
    std::byte* base = t.buffer != nullptr ? t.buffer->host_base() : nullptr;
    return base != nullptr ? base + t.offset : nullptr;
}
template <typename T> T* host_data_as(const Tensor& t) noexcept { return reinterpret_cast<T*>(host_data(t)); }

/// Tensor data in and out, wherever it lies; contiguous tensors or whole-storage copies (n_bytes).
void tensor_write(const Tensor& t, const void* source, size_t offset, size_t bytes);
void tensor_read(const Tensor& t, void* target, size_t offset, size_t bytes);
/// Same layout on both sides: direct where the buffers can, through the host otherwise.
void tensor_copy(const Tensor& source, const Tensor& target);

} // namespace schedscope
