#pragma once

#include "tests/runtime/backend/ops/op_cases.h"
#include "tests/runtime/backend/ops/op_reference.h"

#include <bit>

namespace schedscope::test {

/// A node on its way through the reference.
struct Operands {
    const Tensor& node;
    std::vector<Elements> sources; ///< by source number; without values where there is none
    Elements result;               ///< of the node's shape; zeros at first

    const Elements& a() const { return sources[0]; }
    const Elements& b() const { return sources[1]; }
    bool has(size_t source) const { return node.src[source] != nullptr; }
    // Parameters by ggml's numbers: the names that kernels use are not taken for granted.
    int32_t integer(size_t i) const { return node.params[i]; }
    double number(size_t i) const { return static_cast<double>(std::bit_cast<float>(node.params[i])); }
    /// result(i0…i3) = value(i0…i3) for all elements.
    template <typename Value> void for_each(Value value) {
        size_t i = 0;
        for (int64_t i3 = 0; i3 < result.ne[3]; ++i3) {
            for (int64_t i2 = 0; i2 < result.ne[2]; ++i2) {
                for (int64_t i1 = 0; i1 < result.ne[1]; ++i1) {
                    for (int64_t i0 = 0; i0 < result.ne[0]; ++i0) {
                        result.values[i++] = value(i0, i1, i2, i3);
                    }
                }
            }
        }
    }
};

/// What the operators of one file (ops_NAME.cpp) compute, and what they are tried on: each is one entry.
struct OpFamily {
    bool (*evaluate)(Operands&); ///< fills the result if the operator is of the family; false: it is not
    void (*add_cases)(std::vector<OpCase>&);
};
extern const OpFamily elementwise_ops, norm_ops, soft_max_ops, reduce_ops, move_ops, rows_ops, image_ops, product_ops,
    attention_ops;
inline constexpr const OpFamily* op_families[] = {&elementwise_ops, &norm_ops,  &soft_max_ops, &reduce_ops,   &move_ops,
                                                  &rows_ops,        &image_ops, &product_ops,  &attention_ops};

/// Row of a times row of b.
double dot(const Elements& a, int64_t a1, int64_t a2, int64_t a3, const Elements& b, int64_t b1, int64_t b2, int64_t b3);
/// ALiBi's factor for a head: 1 without bias.
double alibi_slope(double max_bias, int64_t head, int64_t n_heads);

} // namespace schedscope::test
