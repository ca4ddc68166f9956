#include "runtime/backend/op_cost.h"

#include <algorithm>

namespace schedscope {

int64_t op_flops(const Tensor& node) {
    const int64_t n = n_elements(node);
    switch (node.op) {
    case Op::NONE:
    case Op::VIEW:
    case Op::RESHAPE:
    case Op::PERMUTE:
    case Op::TRANSPOSE:
    case Op::GET_ROWS:
    case Op::SET_ROWS:
    case Op::CPY:
    case Op::CONT:
    case Op::DUP:
    case Op::REPEAT:
    case Op::CONCAT:
    case Op::IM2COL: return 0;
    case Op::MUL_MAT:
    case Op::MUL_MAT_ID: return 2 * n * node.src[0]->ne[0];
    case Op::FLASH_ATTN_EXT: // scores and weighted values for each query, head and key
        return 2 * n_rows(*node.src[0]) * node.src[1]->ne[1] * (node.src[0]->ne[0] + node.src[2]->ne[0]);
    case Op::RMS_NORM:
    case Op::NORM:
    case Op::L2_NORM:
    case Op::GROUP_NORM: return 4 * n;
    case Op::SOFT_MAX: return 5 * n;
    case Op::ROPE: return 6 * n;
    case Op::GLU: return 5 * n;
    case Op::SUM_ROWS:
    case Op::SUM:
    case Op::MEAN:
    case Op::ARGMAX: return n_elements(*node.src[0]);
    default: return n;
    }
}

int64_t op_bytes(std::span<Tensor* const> nodes) {
    int64_t bytes = 0;
    for (size_t i = 0; i < nodes.size(); ++i) {
        const Tensor& node = *nodes[i];
        for (const Tensor* source : node.src) {
            const bool inside = std::find(nodes.begin(), nodes.begin() + static_cast<std::ptrdiff_t>(i), source) !=
                                nodes.begin() + static_cast<std::ptrdiff_t>(i);
            const bool read_before =
                std::any_of(nodes.begin(), nodes.begin() + static_cast<std::ptrdiff_t>(i), [source](const Tensor* earlier) {
                    return std::find(earlier->src.begin(), earlier->src.end(), source) != earlier->src.end();
                });
            if (source == nullptr || inside || read_before || source == &node) {
                continue;
            }
            if (node.op == Op::GET_ROWS && source == node.src[0]) { // only the rows that are looked up
                bytes += n_rows(node) * static_cast<int64_t>(row_bytes(source->type, source->ne[0]));
            } else if (node.op == Op::SET_ROWS && source == node.src[2]) {
                continue; // the target: what is written counts below
            } else if (node.op == Op::MUL_MAT_ID && source == node.src[0]) {
                const int64_t used = std::min(source->ne[2], node.ne[1] * node.ne[2]);
                bytes += used * static_cast<int64_t>(source->nb[2]);
            } else {
                bytes += static_cast<int64_t>(n_bytes(*source));
            }
        }
        if (i + 1 == nodes.size()) {
            bytes += node.op == Op::SET_ROWS ? n_rows(*node.src[0]) * static_cast<int64_t>(row_bytes(node.type, node.ne[0]))
                                             : static_cast<int64_t>(n_bytes(node));
        }
    }
    return bytes;
}

} // namespace schedscope
