#pragma once

#include "runtime/backend/cpu/kernels/kernel.h"
#include "runtime/backend/cpu/kernels/rounded_columns.h"

#include <optional>

/// Products of matrices, stretch by stretch. With few columns each weight is read once, as it lies (the speed of memory decides);
/// with many, stretches of rows are packed for the arithmetic once and multiplied with all columns (its speed decides). Weights
/// that were laid out when they were loaded (repacked_memory.h) need less for that, and few columns are multiplied with them as
/// they lie. In whole numbers the columns are rounded to 8 bits; for products in BF16, whose rows always stay as they lie, to
/// that; else quantised rows are expanded to floats.
namespace schedscope::cpu {

/// Are products with weights of this type computed in whole numbers?
bool in_whole_numbers(Products products, const VectorOps& vector, Type weights) noexcept;

/// Columns that a matrix of weights is multiplied with at most: of experts the tokens, which may all be sent to one.
int64_t most_columns(const Tensor& product) noexcept;

/// Are products of weights of this type with n columns computed in BF16? (Of experts the columns are the tokens sent to each.)
bool in_bf16(Products products, const VectorOps& vector, Type weights, int64_t n) noexcept;

/// How n columns are rounded for such weights; nothing: they are multiplied as floats.
std::optional<Rounding> rounding_for(Products products, const VectorOps& vector, const Tensor& weights, int64_t n) noexcept;

/// Where the rows of weights lie, also of those that were laid out (repacked_memory.h).
const std::byte* weights_data(const Tensor& weights) noexcept;

/// Rows of weights that are multiplied together, and packed for it where that is done: a multiple of every panel.
constexpr int64_t rows_at_once = 64;

/// Rows of F32 that can be read where they lie.
bool is_plain(const Tensor& t) noexcept;

/// Columns of a product, as floats `stride` apart, in place if they lie so; and rounded if those are multiplied.
struct Columns {
    const float* data;
    int64_t stride;
    Rounded rounded = {};
};
/// Those of matrix (i2, i3) of source 1, which all parts share if they have rounded them before. `room`: room_of_columns floats.
Columns columns_of(const Work& work, const Tensor& weights, const Tensor& b, int64_t i2, int64_t i3, float* room);
int64_t room_of_columns(const Work& work, const Tensor& weights, const Tensor& b) noexcept;
/// The same of n columns of floats. `room`: room_of_rounded floats.
Columns with_rounded(const Work& work, const Tensor& weights, Columns floats, int64_t n, float* room);
int64_t room_of_rounded(const Work& work, const Tensor& weights, int64_t n) noexcept;

/// out[column × out_stride + row] for rows [first, end) of one matrix of weights and n columns. `room`: room_of_rows floats, of
/// as many columns or more.
void multiply_rows(const Work& work, const Tensor& weights, const std::byte* matrix, int64_t first, int64_t end,
                   const Columns& columns, int64_t n, float* out, int64_t out_stride, float* room);
int64_t room_of_rows(const Work& work, const Tensor& weights, int64_t n) noexcept;

} // namespace schedscope::cpu
