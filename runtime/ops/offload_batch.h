#pragma once

#include "runtime/ops/layout.h"
#include "runtime/ops/op.h"

#include <cstdint>

namespace schedscope {

/// What the offload of an operator is counted by: a product's ne[1], an expert product's and a rope's ne[2], else the number of rows; 0 for a row
/// lookup, which is never offloaded. ne: the node's shape. (The reference's rule.)
constexpr int64_t offload_batch(Op op, const Shape& ne) noexcept {
    switch (op) {
    case Op::GET_ROWS: return 0;
    case Op::MUL_MAT: return ne[1];
    case Op::MUL_MAT_ID:
    case Op::ROPE:
    case Op::ROPE_BACK: return ne[2];
    default: return ne[1] * ne[2] * ne[3];
    }
}

} // namespace schedscope
