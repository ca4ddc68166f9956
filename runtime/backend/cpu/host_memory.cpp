#include "runtime/backend/cpu/host_memory.h"

#include "runtime/error.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <span>
#include <system_error>
#include <vector>

#include <sys/mman.h>

namespace schedscope {

namespace {

class HostBuffer final : public Buffer {
public:
    HostBuffer(std::byte* memory, size_t size, bool owned) : memory_(memory), size_(size), owned_(owned) {}
    ~HostBuffer() override {
        for (const std::span<std::byte> range : locked_) {
            ::munlock(range.data(), range.size());
        }
        if (owned_) {
            std::free(memory_);
        }
    }
    const BufferType& type() const noexcept override { return cpu_buffer_type(); }
    size_t size() const noexcept override { return size_; }
    std::byte* host_base() noexcept override { return memory_; }
    void write(size_t offset, const void* source, size_t bytes) override { std::memcpy(memory_ + offset, source, bytes); }
    void read(size_t offset, void* target, size_t bytes) override { std::memcpy(target, memory_ + offset, bytes); }
    void clear(uint8_t value) override { std::memset(memory_, value, size_); }
    std::string lock(size_t offset, size_t bytes) override {
        if (::mlock(memory_ + offset, bytes) != 0) {
            return std::generic_category().message(errno);
        }
        locked_.emplace_back(memory_ + offset, bytes);
        return {};
    }

private:
    std::byte* memory_;
    size_t size_;
    bool owned_;
    std::vector<std::span<std::byte>> locked_;
};

class HostBufferType final : public BufferType {
public:
    std::string_view name() const noexcept override { return "CPU"; }
    bool is_host() const noexcept override { return true; }
    size_t alignment() const noexcept override { return 32; }
    size_t max_size() const noexcept override { return SIZE_MAX; }
    std::unique_ptr<Buffer> allocate(size_t bytes) const override {
        constexpr size_t line = 64; // a cache line
        constexpr size_t page = size_t{2} << 20U;
        const size_t alignment = bytes >= 2 * page ? page : line;
        const size_t rounded = bytes > SIZE_MAX - alignment ? 0 : (bytes + alignment) / alignment * alignment;
        void* memory = rounded != 0 ? std::aligned_alloc(alignment, rounded) : nullptr;
        if (memory == nullptr) {
            throw Error(ErrorKind::device, "CPU: no memory for a buffer of " + std::to_string(bytes) + " bytes");
        }
        if (alignment == page) {
            ::madvise(memory, rounded, MADV_HUGEPAGE); // fewer, larger pages where there are some; else nothing changes
        }
        return std::make_unique<HostBuffer>(static_cast<std::byte*>(memory), bytes, true);
    }
};

} // namespace

const BufferType& cpu_buffer_type() noexcept {
    static const HostBufferType type;
    return type;
}

std::unique_ptr<Buffer> wrap_host_memory(void* memory, size_t bytes) {
    return std::make_unique<HostBuffer>(static_cast<std::byte*>(memory), bytes, false);
}

} // namespace schedscope
