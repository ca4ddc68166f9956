#pragma once

#include "runtime/backend/buffer.h"

#include <memory>

namespace schedscope {

/// The memory that the CPU (and BLAS) compute on: "CPU".
const BufferType& cpu_buffer_type() noexcept;

/// A buffer of that type over memory that its caller owns and keeps (a mapped file).
std::unique_ptr<Buffer> wrap_host_memory(void* memory, size_t bytes);

} // namespace schedscope
