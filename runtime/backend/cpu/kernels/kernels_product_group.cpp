// Products with what follows them: each stretch of rows is finished while it is near.

#include "runtime/backend/cpu/kernels/activation.h"
#include "runtime/backend/cpu/kernels/product_rows.h"
#include "runtime/backend/order/fusion_parts.h"

#include <algorithm>

namespace schedscope::cpu {

namespace {

/// Rows of one product for all columns; kept in `out`, a column behind the other, rows_at_once floats each.
class Stretches {
public:
    Stretches(const Work& work, const Tensor& product, const Columns& columns, float* room)
        : work_(work), product_(product), columns_(columns), room_(room) {}
    void multiply(int64_t first, int64_t end, float* out) const {
        // The rows are counted from `first`, so that they fill `out` from its beginning.
        const Tensor& weights = *product_.src[0];
        const std::byte* matrix = host_data(weights) + first * weights.nb[1];
        multiply_rows(work_, weights, matrix, 0, end - first, columns_, product_.ne[1], out, rows_at_once, room_);
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
    const int64_t for_columns = room_of_columns(b);
    float* room = work.room(rows_at_once * n + for_columns + room_of_rows(n, b.ne[0]));
    float* for_rows = room + rows_at_once * n;
    const Columns columns = columns_of(b, 0, 0, for_rows, work.vector);
    const Stretches product(work, *parts.product, columns, for_rows + for_columns);
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

void run_gate_up(const Work& work) {
    const fused::GateUp parts = fused::gate_up_parts(work.nodes);
    const Tensor& b = *parts.gate->src[1];
    const int64_t n = parts.gate->ne[1];
    const int64_t for_columns = room_of_columns(b);
    float* gates = work.room(2 * rows_at_once * n + for_columns + room_of_rows(n, b.ne[0]));
    float* ups = gates + rows_at_once * n;
    float* for_rows = ups + rows_at_once * n;
    const Columns columns = columns_of(b, 0, 0, for_rows, work.vector);
    const Stretches gate_rows(work, *parts.gate, columns, for_rows + for_columns);
    const Stretches up_rows(work, *parts.up, columns, for_rows + for_columns);
    work.each_stretch(work.node().ne[0], rows_at_once, [&](int64_t first, int64_t end) {
        gate_rows.multiply(first, end, gates);
        up_rows.multiply(first, end, ups);
        for (int64_t j = 0; j < n; ++j) {
            gate(parts.act, work.vector, gates + j * rows_at_once, ups + j * rows_at_once, at(*parts.result, first, j),
                 end - first);
        }
    });
}

} // namespace schedscope::cpu
