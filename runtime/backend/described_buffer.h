#pragma once

#include "runtime/backend/buffer.h"

namespace schedscope {

/// A buffer that says what it would be and has no memory: plans can speak of it, nothing can be computed on it.
/// `write` and `read` throw Error(usage).
class DescribedBuffer final : public Buffer {
public:
    DescribedBuffer(const BufferType& type, size_t size) noexcept : type_(type), size_(size) {}

    const BufferType& type() const noexcept override { return type_; }
    size_t size() const noexcept override { return size_; }
    std::byte* host_base() noexcept override { return nullptr; }
    void write(size_t, const void*, size_t) override { refuse(); }
    void read(size_t, void*, size_t) override { refuse(); }
    void clear(uint8_t) override {}

private:
    [[noreturn]] void refuse() const;

    const BufferType& type_;
    size_t size_;
};

} // namespace schedscope
