#include "runtime/model/tensor_buffers.h"

#include "runtime/error.h"

#include <string>

namespace schedscope {

namespace {

/// Says what it would be, without memory.
class DescribedBuffer final : public Buffer {
public:
    DescribedBuffer(const BufferType& type, size_t size) : type_(type), size_(size) {}

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

size_t aligned(size_t n, size_t alignment) noexcept { return (n + alignment - 1) / alignment * alignment; }

} // namespace

std::vector<std::unique_ptr<Buffer>> give_buffers(const BufferType& type, std::span<Tensor* const> tensors, BufferUsage usage,
                                                  LoadMode mode) {
    std::vector<std::unique_ptr<Buffer>> buffers;
    size_t first = 0;
    while (first < tensors.size()) {
        size_t bytes = 0;
        size_t end = first;
        for (; end < tensors.size(); ++end) {
            const size_t offset = aligned(bytes, type.alignment());
            const size_t with = offset + n_bytes(*tensors[end]);
            if (end > first && with > type.max_size()) {
                break;
            }
            tensors[end]->offset = offset;
            bytes = with;
        }
        buffers.push_back(mode == LoadMode::data ? type.allocate(bytes) : std::make_unique<DescribedBuffer>(type, bytes));
        buffers.back()->usage = usage;
        for (; first < end; ++first) {
            tensors[first]->buffer = buffers.back().get();
        }
    }
    return buffers;
}

} // namespace schedscope
