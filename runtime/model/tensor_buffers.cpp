#include "runtime/model/tensor_buffers.h"

#include "runtime/backend/described_buffer.h"

namespace schedscope {

namespace {

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
            buffers.back()->hold(*tensors[first]);
        }
    }
    return buffers;
}

} // namespace schedscope
