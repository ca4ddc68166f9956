#include "runtime/backend/cpu/host_memory.h"

#include "runtime/error.h"
#include "runtime/system/large_pages.h"

#include <cerrno>
#include <cstring>
#include <span>
#include <system_error>
#include <utility>
#include <vector>

#include <sys/mman.h>

namespace schedscope {

namespace {

class HostBuffer final : public Buffer {
public:
    HostBuffer(std::byte* memory, size_t size) : memory_(memory), size_(size) {}
    HostBuffer(FreedBytes memory, size_t size) : owned_(std::move(memory)), memory_(owned_.get()), size_(size) {}
    ~HostBuffer() override {
        for (const std::span<std::byte> range : locked_) {
            ::munlock(range.data(), range.size());
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
    FreedBytes owned_; ///< null: it is another's
    std::byte* memory_;
    size_t size_;
    std::vector<std::span<std::byte>> locked_;
};

class HostBufferType final : public BufferType {
public:
    std::string_view name() const noexcept override { return "CPU"; }
    bool is_host() const noexcept override { return true; }
    size_t alignment() const noexcept override { return 32; }
    size_t max_size() const noexcept override { return SIZE_MAX; }
    std::unique_ptr<Buffer> allocate(size_t bytes) const override {
        FreedBytes memory = allocate_in_large_pages(bytes);
        if (memory == nullptr) {
            throw Error(ErrorKind::device, "CPU: no memory for a buffer of " + std::to_string(bytes) + " bytes");
        }
        return std::make_unique<HostBuffer>(std::move(memory), bytes);
    }
};

} // namespace

const BufferType& cpu_buffer_type() noexcept {
    static const HostBufferType type;
    return type;
}

std::unique_ptr<Buffer> wrap_host_memory(void* memory, size_t bytes) {
    return std::make_unique<HostBuffer>(static_cast<std::byte*>(memory), bytes);
}

} // namespace schedscope
