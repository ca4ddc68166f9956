#include "runtime/backend/op_cost.h"

#include <algorithm>

namespace schedscope {

int64_t op_flops(const Tensor& node) {
    SourceShapes shapes{};
    for (size_t i = 0; i < shapes.size(); ++i) {
        shapes[i] = node.src[i] != nullptr ? &node.src[i]->ne : nullptr;
    }
    return traits(node.op).flops(node.ne, shapes);
}

int64_t op_bytes(std::span<Tensor* const> nodes) {
    int64_t bytes = 0;
    for (size_t i = 0; i < nodes.size(); ++i) {
        const Tensor& node = *nodes[i];
        for (const Tensor* source : node.src) {
            const bool inside = std::find(nodes.begin(), nodes.begin() + i, source) != nodes.begin() + i;
            const bool read_before = std::any_of(nodes.begin(), nodes.begin() + i, [source](const Tensor* earlier) {
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
                bytes += used * source->nb[2];
            } else {
                bytes += n_bytes(*source);
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
