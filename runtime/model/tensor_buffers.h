#pragma once

#include "runtime/backend/buffer.h"
#include "runtime/tensor/tensor.h"

#include <memory>
#include <span>
#include <vector>

namespace schedscope {

enum class LoadMode : uint8_t {
    data,  ///< with memory
    header ///< only described: graphs can be planned, not run
};

/// Gives tensors buffers of one type, one behind the other; more than one buffer when the type limits their size. Throws
/// Error(device) when there is no memory.
std::vector<std::unique_ptr<Buffer>> give_buffers(const BufferType& type, std::span<Tensor* const> tensors, BufferUsage usage,
                                                  LoadMode mode);

} // namespace schedscope
