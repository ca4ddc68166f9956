#include "tests/support/random/simulated_memory.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>

namespace schedscope::test {

class SimulatedMemory::Block final : public Buffer {
public:
    Block(const SimulatedMemory& type, size_t size)
        : type_(type), size_(size),
          data_(static_cast<std::byte*>(std::aligned_alloc(type.alignment(), (size / type.alignment() + 1) * type.alignment()))) {
        clear(0xFF); // NaN
    }
    ~Block() override {
        if (type_.watch_.in_use && type_.watch_.in_use(this)) {
            type_.watch_.complain("memory of " + type_.name_ + " went away while queued work needs it");
        }
        std::free(data_);
    }
    const BufferType& type() const noexcept override { return type_; }
    size_t size() const noexcept override { return size_; }
    std::byte* host_base() noexcept override { return type_.is_host_ || type_.watch_.running > 0 ? data_ : nullptr; }
    void write(size_t offset, const void* source, size_t bytes) override {
        if (inside(offset, bytes)) {
            std::memmove(data_ + offset, source, bytes);
        }
    }
    void read(size_t offset, void* target, size_t bytes) override {
        if (inside(offset, bytes)) {
            std::memmove(target, data_ + offset, bytes);
        }
    }
    void clear(uint8_t value) override { std::fill_n(data_, size_, std::byte{value}); }

private:
    bool inside(size_t offset, size_t bytes) const {
        if (offset > size_ || bytes > size_ - offset) {
            type_.watch_.complain("bytes outside a buffer of " + type_.name_);
            return false;
        }
        return true;
    }

    const SimulatedMemory& type_;
    size_t size_;
    std::byte* data_;
};

std::unique_ptr<Buffer> SimulatedMemory::allocate(size_t bytes) const { return std::make_unique<Block>(*this, bytes); }

} // namespace schedscope::test
