#include "runtime/verify/tolerance.h"

namespace schedscope {

namespace {

bool is_whole(Type type) noexcept { return type == Type::I8 || type == Type::I16 || type == Type::I32 || type == Type::I64; }

} // namespace

double tolerance(const Tensor& node, bool in_floats) noexcept {
    if (is_whole(node.type)) {
        return 0;
    }
    if (node.op == Op::FLASH_ATTN_EXT) {
        return 5e-4;
    }
    if (node.op == Op::MUL_MAT || node.op == Op::MUL_MAT_ID) {
        return node.src[0] != nullptr && node.src[0]->type != Type::F32 && !in_floats ? 5e-4 : 1e-7;
    }
    if (traits(node.type).quantised()) {
        return 1e-4;
    }
    return node.type == Type::BF16 ? 1e-5 : 1e-7;
}

} // namespace schedscope
