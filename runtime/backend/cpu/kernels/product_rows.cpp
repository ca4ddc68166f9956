#include "runtime/backend/cpu/kernels/product_rows.h"

#include "runtime/numbers.h"

#include <algorithm>

namespace schedscope::cpu {

namespace {

constexpr int64_t column_bytes = 384 * 1024; ///< columns that are kept near while the rows pass by

/// out[j × out_stride] = a row of weights times column j, for a few columns.
void dot_row(const Tensor& weights, const std::byte* row, const float* x, int64_t stride, int64_t n_columns, float* out,
             int64_t out_stride, float* room, const VectorOps& v) {
    const int64_t k = weights.ne[0];
    const auto each = [&](auto dot, const auto* data) {
        for (int64_t j = 0; j < n_columns; ++j) {
            out[j * out_stride] = dot(data, x + j * stride, k);
        }
    };
    switch (weights.type) {
    case Type::F32: return each(v.dot_f32, reinterpret_cast<const float*>(row));
    case Type::F16: return each(v.dot_f16, reinterpret_cast<const uint16_t*>(row));
    case Type::BF16: return each(v.dot_bf16, reinterpret_cast<const uint16_t*>(row));
    default: break;
    }
    const BlockOps& blocks = v.blocks[ordinal(weights.type)];
    if (blocks.dot == nullptr) {
        return each(v.dot_f32, read_row(weights, row, room, v));
    }
    float results[BlockOps::max_columns];
    for (int64_t j = 0; j < n_columns; j += BlockOps::max_columns) {
        const auto some = int_of(std::min<int64_t>(BlockOps::max_columns, n_columns - j));
        blocks.dot(row, x + j * stride, stride, some, k, results);
        for (int i = 0; i < some; ++i) {
            out[(j + i) * out_stride] = results[i];
        }
    }
}

bool is_plain(const Tensor& t) noexcept { return t.type == Type::F32 && has_contiguous_rows(t) && t.nb[1] % sizeof(float) == 0; }

} // namespace

int64_t room_of_columns(const Tensor& b) noexcept { return is_plain(b) ? 0 : b.ne[0] * b.ne[1]; }

Columns columns_of(const Tensor& b, int64_t i2, int64_t i3, float* room, const VectorOps& vector) {
    if (is_plain(b)) {
        return {reinterpret_cast<const float*>(row_data(b, {0, i2, i3})), static_cast<int64_t>(b.nb[1] / sizeof(float))};
    }
    const int64_t k = b.ne[0];
    for (int64_t j = 0; j < b.ne[1]; ++j) {
        float* column = room + j * k;
        const float* read = read_row(b, row_data(b, {j, i2, i3}), column, vector);
        if (read != column) {
            std::copy(read, read + k, column);
        }
    }
    return {room, k};
}

int64_t room_of_rows(int64_t n, int64_t k) noexcept { return (n <= few_columns ? 1 : rows_at_once) * k; }

void multiply_rows(const Work& work, const Tensor& weights, const std::byte* matrix, int64_t first, int64_t end,
                   const Columns& columns, int64_t n, float* out, int64_t out_stride, float* room) {
    const int64_t k = weights.ne[0];
    const VectorOps& v = work.vector;
    if (n <= few_columns) {
        for (int64_t row = first; row < end; ++row) {
            dot_row(weights, matrix + row * weights.nb[1], columns.data, columns.stride, n, out + row, out_stride, room, v);
        }
        return;
    }
    const bool in_place = weights.type == Type::F32;
    const int64_t block = std::max<int64_t>(60, column_bytes / static_cast<int64_t>(sizeof(float)) / k / 60 * 60);
    for (int64_t row = first; row < end; row += rows_at_once) {
        const int64_t rows = std::min(rows_at_once, end - row);
        const float* a = reinterpret_cast<const float*>(matrix + row * weights.nb[1]);
        int64_t lda = weights.nb[1] / sizeof(float);
        if (!in_place) {
            for (int64_t i = 0; i < rows; ++i) {
                read_row(weights, matrix + (row + i) * weights.nb[1], room + i * k, v);
            }
            a = room;
            lda = k;
        }
        for (int64_t j = 0; j < n; j += block) {
            v.multiply(a, lda, rows, columns.data + j * columns.stride, columns.stride, std::min(block, n - j), k,
                       out + j * out_stride + row, out_stride);
        }
    }
}

} // namespace schedscope::cpu
