// Products with what follows them: each stretch of rows is finished while it is near.

#include "runtime/backend/cpu/kernels/activation.h"
#include "runtime/backend/cpu/kernels/product_rows.h"
#include "runtime/backend/order/fusion_parts.h"

#include <algorithm>

namespace schedscope::cpu {

namespace {

/// Rows of one product for all columns; kept in `out`, a column behind the other, `apart` floats each.
class RowsOfProduct {
public:
    RowsOfProduct(const Work& work, const Tensor& product, const Columns& columns, float* room)
        : work_(work), product_(product), columns_(columns), room_(room) {}
    void multiply(int64_t first, int64_t end, float* out, int64_t apart = rows_at_once) const {
        // The rows are counted from `first`, so that they fill `out` from its beginning.
        const Tensor& weights = *product_.src[0];
        const std::byte* matrix = weights_data(weights) + first * weights.nb[1];
        multiply_rows(work_, weights, matrix, 0, end - first, columns_, product_.ne[1], out, apart, room_);
    }

private:
    const Work& work_;
    const Tensor& product_;
    Columns columns_;
    float* room_;
};

float* at(const Tensor& t, int64_t row, int64_t column) noexcept {
    return reinterpret_cast<float*>(row_data(t, {column, 0, 0})) + row;
}

} // namespace

void run_mul_mat_add(const Work& work) {
    const fused::Product parts = fused::product_parts(work.nodes);
    const Tensor& b = *parts.product->src[1];
    const int64_t n = parts.product->ne[1];
    const Tensor& weights = *parts.product->src[0];
    const int64_t for_columns = room_of_columns(work, weights, b);
    float* room = work.room(rows_at_once * n + for_columns + room_of_rows(work, weights, n));
    float* for_rows = room + rows_at_once * n;
    const Columns columns = columns_of(work, weights, b, 0, 0, for_rows);
    const RowsOfProduct product(work, *parts.product, columns, for_rows + for_columns);
    work.each_stretch(work.node().ne[0], rows_at_once, [&](int64_t first, int64_t end) {
        product.multiply(first, end, room);
        for (int64_t j = 0; j < n; ++j) {
            float* out = at(*parts.result, first, j);
            work.vector.add(room + j * rows_at_once, at(*parts.bias, first, n_rows(*parts.bias) == 1 ? 0 : j), out, end - first);
            if (parts.act.has_value()) {
                activate(*parts.act, work.vector, out, out, end - first);
            }
        }
    });
}

/// So many rows of either matrix before those of the other. For one column the speed of memory decides, which is read faster from
/// its begin to its end; no more than leaves each part several stretches.
int64_t gates_at_once(const Work& work, const Tensor& gate, int64_t n) {
    constexpr int64_t of_part = 16 * rows_at_once;
    return n > 1 ? rows_at_once : std::max<int64_t>(gate.ne[1] / (of_part * work.n_parts), 1) * rows_at_once;
}

void run_gate_up(const Work& work) {
    const fused::GateUp parts = fused::gate_up_parts(work.nodes);
    const Tensor& b = *parts.gate->src[1];
    const int64_t n = parts.gate->ne[1];
    const Tensor &gate_weights = *parts.gate->src[0], &up_weights = *parts.up->src[0];
    // Their types may differ, and so may what is made of the columns for each.
    const int64_t for_gate = room_of_columns(work, gate_weights, b), for_up = room_of_rounded(work, up_weights, n);
    const int64_t for_rows = std::max(room_of_rows(work, gate_weights, n), room_of_rows(work, up_weights, n));
    const int64_t at_once = gates_at_once(work, gate_weights, n);
    float* gates = work.room(2 * at_once * n + for_gate + for_up + for_rows);
    float* ups = gates + at_once * n;
    float* gate_room = ups + at_once * n;
    float* rows = gate_room + for_gate + for_up;
    const Columns columns = columns_of(work, gate_weights, b, 0, 0, gate_room);
    const bool alike =
        rounding_for(work.products, work.vector, gate_weights, n) == rounding_for(work.products, work.vector, up_weights, n);
    const Columns up_columns =
        alike ? columns : with_rounded(work, up_weights, {columns.data, columns.stride}, n, gate_room + for_gate);
    const RowsOfProduct gate_rows(work, *parts.gate, columns, rows);
    const RowsOfProduct up_rows(work, *parts.up, up_columns, rows);
    work.each_stretch(work.node().ne[0], at_once, [&](int64_t first, int64_t end) {
        gate_rows.multiply(first, end, gates, at_once);
        up_rows.multiply(first, end, ups, at_once);
        for (int64_t j = 0; j < n; ++j) {
            gate(parts.act, work.vector, gates + j * at_once, ups + j * at_once, at(*parts.result, first, j), end - first);
        }
    });
}

} // namespace schedscope::cpu
