#pragma once

#include "runtime/backend/order/fusion.h"
#include "runtime/tensor/tensor.h"

#include <array>
#include <optional>
#include <span>

/// The roles of tensors in a group that find_groups made, for those who write its kernel. `nodes` are the group's, views
/// included.
namespace schedscope::fused {

/// rms_norm_mul, norm_mul and those with an ADD: x normed, × weight, + bias.
struct Norm {
    const Tensor* norm = nullptr; ///< the RMS_NORM or NORM node
    const Tensor* x = nullptr;
    const Tensor* weight = nullptr;
    const Tensor* bias = nullptr; ///< null without ADD
    const Tensor* result = nullptr;
};
Norm norm_parts(std::span<Tensor* const> nodes) noexcept;

/// add_chain: the sum of n operands, from the left. The first has the result's shape.
struct Chain {
    std::array<const Tensor*, max_chain + 1> operand{};
    size_t n = 0;
    const Tensor* result = nullptr;
};
Chain chain_parts(std::span<Tensor* const> nodes) noexcept;

/// mul_mat_add, mul_mat_add_act: act(product + bias).
struct Product {
    const Tensor* product = nullptr; ///< the MUL_MAT node
    const Tensor* bias = nullptr;    ///< one row, or of the product's shape
    std::optional<UnaryOp> act;
    const Tensor* result = nullptr;
};
Product product_parts(std::span<Tensor* const> nodes) noexcept;

/// gate_up: act(gate) × up. Both are MUL_MAT nodes with the same source 1; the weights may differ in type.
struct GateUp {
    const Tensor* gate = nullptr;
    const Tensor* up = nullptr;
    GluOp act = GluOp::SWIGLU; ///< of the unary form: the gate with that function
    const Tensor* result = nullptr;
};
GateUp gate_up_parts(std::span<Tensor* const> nodes) noexcept;

/// rope_set_rows: row t of the cache's new rows is rope's [head × heads] of token t.
struct RopeStore {
    const Tensor* rope = nullptr;
    const Tensor* store = nullptr; ///< the SET_ROWS node: a view of the cache; source 1: which rows
};
RopeStore rope_store_parts(std::span<Tensor* const> nodes) noexcept;

} // namespace schedscope::fused
