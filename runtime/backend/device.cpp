#include "runtime/backend/device.h"

namespace schedscope {

int64_t offload_batch(const Tensor& node) noexcept {
    switch (node.op) {
    case Op::GET_ROWS: return 0;
    case Op::MUL_MAT: return node.ne[1];
    case Op::MUL_MAT_ID:
    case Op::ROPE: return node.ne[2];
    default: return n_rows(node);
    }
}

} // namespace schedscope
