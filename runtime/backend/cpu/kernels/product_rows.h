#pragma once

#include "runtime/backend/cpu/kernels/kernel.h"

/// Products of matrices, stretch by stretch. With few columns each weight is read once, as it lies (the speed of memory decides);
/// with many, stretches of rows are expanded to floats once and multiplied with all columns (the speed of arithmetic decides).
namespace schedscope::cpu {

constexpr int64_t few_columns = 4;
constexpr int64_t rows_at_once = 60; ///< a multiple of every tile height

/// Columns of source 1 as rows of floats, `stride` floats apart: in place if they lie so.
struct Columns {
    const float* data;
    int64_t stride;
};
/// Those of matrix (i2, i3). `room`: room_of_columns(b) floats.
Columns columns_of(const Tensor& b, int64_t i2, int64_t i3, float* room, const VectorOps& vector);
int64_t room_of_columns(const Tensor& b) noexcept;

/// out[column × out_stride + row] for rows [first, end) of one matrix of weights and n columns. `room`: room_of_rows(n, ne0 of
/// the weights) floats.
void multiply_rows(const Work& work, const Tensor& weights, const std::byte* matrix, int64_t first, int64_t end,
                   const Columns& columns, int64_t n, float* out, int64_t out_stride, float* room);
int64_t room_of_rows(int64_t n, int64_t k) noexcept;

} // namespace schedscope::cpu
