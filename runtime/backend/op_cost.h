#pragma once

#include "runtime/tensor/tensor.h"

#include <span>

namespace schedscope {

/// Floating-point operations of a node, multiply and add counted apart.
int64_t op_flops(const Tensor& node);

/// Bytes that nodes run as one kernel read and write: results between them stay inside, and what several of them read is read
/// once.
int64_t op_bytes(std::span<Tensor* const> nodes);

} // namespace schedscope
