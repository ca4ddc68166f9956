#pragma once

#include "tests/runtime/backend/ops/op_reference.h"

namespace schedscope::test {

/// A node on its way through the reference.
struct Operands {
    const Tensor& node;
    std::vector<Elements> sources; ///< by source number; without values where there is none
    Elements result;               ///< of the node's shape; zeros at first

    const Elements& a() const { return sources[0]; }
    const Elements& b() const { return sources[1]; }
    bool has(size_t source) const { return node.src[source] != nullptr; }
    int32_t integer(size_t i) const { return node.params[i]; }
    double number(int i) const { return static_cast<double>(node.param_f32(i)); }
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

// Each fills the result if the operator is of its family; false: it is not.
bool evaluate_elementwise(Operands&);
bool evaluate_rows(Operands&); ///< norms, softmax, rope, sums, sorting
bool evaluate_movement(Operands&);
bool evaluate_products(Operands&); ///< attention too

/// ALiBi's factor for a head: 1 without bias.
double alibi_slope(double max_bias, int64_t head, int64_t n_heads);

} // namespace schedscope::test
