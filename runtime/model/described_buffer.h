#pragma once

#include "runtime/backend/buffer.h"
#include "runtime/error.h"

#include <string>

namespace schedscope {

/// A buffer that says what it would be, without memory: for plans from a model's header.
class DescribedBuffer final : public Buffer {
public:
    DescribedBuffer(const BufferType& type, size_t size, BufferUsage use) : type_(type), size_(size) { usage = use; }

    const BufferType& type() const noexcept override { return type_; }
    size_t size() const noexcept override { return size_; }
    std::byte* host_base() noexcept override { return nullptr; }
    void write(size_t, const void*, size_t) override { refuse(); }
    void read(size_t, void*, size_t) override { refuse(); }
    void clear(uint8_t) override {}

private:
    [[noreturn]] void refuse() const {
        throw Error(ErrorKind::usage, std::string(type_.name()) + " buffer: it was only described, it holds no data");
    }
    const BufferType& type_;
    size_t size_;
};

} // namespace schedscope
