#include "runtime/backend/buffer.h"

#include <vector>

namespace schedscope {

void tensor_write(const Tensor& t, const void* source, size_t offset, size_t bytes) {
    t.buffer->write(t.offset + offset, source, bytes);
}

void tensor_read(const Tensor& t, void* target, size_t offset, size_t bytes) { t.buffer->read(t.offset + offset, target, bytes); }

void tensor_copy(const Tensor& source, const Tensor& target) {
    const size_t bytes = n_bytes(source);
    if (const std::byte* from = host_data(source)) {
        target.buffer->write(target.offset, from, bytes);
    } else if (std::byte* to = host_data(target)) {
        source.buffer->read(source.offset, to, bytes);
    } else if (!target.buffer->copy_from(target.offset, *source.buffer, source.offset, bytes)) {
        std::vector<std::byte> between(bytes);
        source.buffer->read(source.offset, between.data(), bytes);
        target.buffer->write(target.offset, between.data(), bytes);
    }
}

} // namespace schedscope
