#include "runtime/backend/cpu/kernels/product_rows.h"

#include "runtime/backend/cpu/kernels/operators.h"
#include "runtime/backend/cpu/repacked_memory.h"
#include "runtime/numbers.h"

#include <algorithm>
#include <optional>

namespace schedscope::cpu {

namespace {

constexpr int64_t few_columns = 4, few_int8_columns = 8; ///< up to these each row is multiplied as it lies
constexpr int64_t some_columns = 16;                     ///< and several rows of floats together
constexpr int64_t expanded_rows = 60;                    ///< a multiple of every tile height of floats
static_assert(most_rows_at_once % rows_laid_out_together == 0);
constexpr int64_t float_bytes = sizeof(float);
constexpr int64_t column_bytes = 384 * 1024; ///< columns that are kept near while the rows pass by

/// Σ row[l] x[l] of a type of floats; what lies `ahead` bytes further is fetched.
float dot_floats(Type type, const std::byte* row, const float* x, int64_t n, int64_t ahead, const VectorOps& v) {
    switch (type) {
    case Type::F16: return v.dot_f16(reinterpret_cast<const uint16_t*>(row), x, n, ahead);
    case Type::BF16: return v.dot_bf16(reinterpret_cast<const uint16_t*>(row), x, n, ahead);
    default: return v.dot_f32(reinterpret_cast<const float*>(row), x, n, ahead);
    }
}
int64_t ahead_in_order() noexcept { return fetches_in_order() ? fetched_ahead : 0; }

/// out[j × out_stride] = a row of weights times column j, for a few columns.
void dot_row(const Tensor& weights, const std::byte* row, const Columns& x, int64_t n_columns, float* out, int64_t out_stride,
             float* room, const VectorOps& v) {
    const int64_t k = weights.ne[0];
    const auto each = [&](Type type, const std::byte* data, int64_t ahead) {
        for (int64_t j = 0; j < n_columns; ++j) {
            out[j * out_stride] = dot_floats(type, data, x.data + j * x.stride, k, j == 0 ? ahead : 0, v);
        }
    };
    if (is_float(weights.type)) {
        return each(weights.type, row, ahead_in_order());
    }
    fetch(row + fetched_ahead, static_cast<int64_t>(weights.nb[1]));
    const BlockOps& blocks = v.blocks[ordinal(weights.type)];
    if (blocks.dot != nullptr) {
        for (int64_t j = 0; j < n_columns; j += BlockOps::max_columns) {
            const auto some = int_of(std::min<int64_t>(BlockOps::max_columns, n_columns - j));
            float results[BlockOps::max_columns];
            blocks.dot(row, x.data + j * x.stride, x.stride, some, k, results);
            for (int i = 0; i < some; ++i) {
                out[(j + i) * out_stride] = results[i];
            }
        }
    } else {
        each(Type::F32, reinterpret_cast<const std::byte*>(read_row(weights, row, room, v)), 0);
    }
}

/// The same of rows of F32, F16 or BF16, for two columns and more: each number is read once for several.
const RowOps* rows_of_floats(const Tensor& weights, int64_t n, const VectorOps& v) noexcept {
    return is_float(weights.type) && n <= some_columns ? &v.rows[ordinal(weights.type)] : nullptr;
}

void multiply_floats(const RowOps& ops, const Tensor& weights, const std::byte* matrix, int64_t first, int64_t end,
                     const Columns& x, int64_t n, float* out, int64_t out_stride) {
    constexpr int64_t together = 8; // stay near for all columns
    const auto stride = static_cast<int64_t>(weights.nb[1]);
    const int64_t ahead = std::max(together, fetched_ahead / std::max<int64_t>(stride, 1));
    for (int64_t row = first; row < end; row += together) {
        ops.multiply(matrix + row * stride, weights.nb[1], std::min(together, end - row), ahead, x.data, x.stride, n,
                     weights.ne[0], out + row, out_stride);
    }
}

/// Stretches of panels of rows of floats that are laid out: use(first row, first number, numbers of each row, where they lie).
template <typename Use> void each_stretch_of(const Tensor& weights, const std::byte* panels, int64_t n_rows, Use use) {
    for (int64_t row = 0; row < n_rows; row += rows_laid_out_together, panels += rows_laid_out_together * weights.nb[1]) {
        each_stretch_of_floats(weights.ne[0], [&](int64_t first, int64_t n) {
            use(row, first, n, panels + first * rows_laid_out_together * weights.nb[0]);
        });
    }
}

/// A few columns with such rows.
void multiply_laid_out(const RowOps& ops, const Tensor& weights, const std::byte* panels, int64_t n_rows, const Columns& x,
                       int64_t n, float* out, int64_t out_stride, const VectorOps& v) {
    constexpr int64_t together = rows_laid_out_together;
    float sums[some_columns * together];
    each_stretch_of(weights, panels, n_rows, [&](int64_t row, int64_t at, int64_t length, const std::byte* stretch) {
        const int64_t stride = length * static_cast<int64_t>(weights.nb[0]);
        if (n == 1) {
            for (int64_t r = 0; r < together; ++r) {
                sums[r] = dot_floats(weights.type, stretch + r * stride, x.data + at, length, ahead_in_order(), v);
            }
        } else {
            ops.multiply(stretch, stride, together, std::max(together, fetched_ahead / stride), x.data + at, x.stride, n, length,
                         sums, together);
        }
        for (int64_t j = 0; j < n; ++j) {
            float* const to = out + j * out_stride + row;
            for (int64_t r = 0; r < together; ++r) {
                to[r] = at == 0 ? sums[j * together + r] : to[r] + sums[j * together + r];
            }
        }
    });
}

/// Such rows as floats, as they were.
void take_back(const Tensor& weights, const std::byte* panels, int64_t n_rows, float* rows, const VectorOps& v) {
    const int64_t k = weights.ne[0];
    each_stretch_of(weights, panels, n_rows, [&](int64_t row, int64_t at, int64_t length, const std::byte* stretch) {
        for (int64_t r = 0; r < rows_laid_out_together; ++r) {
            to_floats(weights.type, stretch + r * length * weights.nb[0], rows + (row + r) * k + at, length, v);
        }
    });
}

/// As many columns as stay near, a multiple of every tile's.
int64_t columns_at_once(int64_t bytes_of_one) noexcept {
    constexpr int64_t tiles = 60;
    return std::max(tiles, column_bytes / bytes_of_one / tiles * tiles);
}

/// Rows as they lie, each piece of which is taken apart once for several columns.
void multiply_few(const Tensor& weights, const std::byte* matrix, int64_t first, int64_t end, const Int8Columns& columns,
                  int64_t n, float* out, int64_t out_stride, const VectorOps& v) {
    const Int8Rows& ops = v.blocks[ordinal(weights.type)].int8;
    const int64_t near = n <= Int8Rows::max_columns ? end - first : 32; ///< rows that stay in the cache for further columns
    for (int64_t row = first; row < end; row += near) {
        for (int64_t j = 0; j < n; j += Int8Rows::max_columns) {
            ops.dot(matrix + row * weights.nb[1], weights.nb[1], std::min(near, end - row), columns.from(j),
                    int_of(std::min<int64_t>(Int8Rows::max_columns, n - j)), weights.ne[0], out + row + j * out_stride,
                    out_stride);
        }
    }
}

/// Bytes of a column that are read.
int64_t bytes_of_column(const Int8Columns& columns) noexcept { return columns.stride + 2 * columns.group_stride * float_bytes; }

/// How weights that were laid out when they were loaded are multiplied with so few columns; null: they were not, or there are
/// more.
const RepackedRows* repacked_for(const Tensor& weights, int64_t n) noexcept {
    const RepackedRows* const repacked = repacked_rows(weights);
    return repacked != nullptr && n <= repacked->few_columns ? repacked : nullptr;
}

std::optional<Rounding> rounding_for(const Work& work, const Tensor& weights, int64_t n) noexcept {
    return cpu::rounding_for(work.products, work.vector, weights, n);
}

/// Such panels, as they lie: a few at a time, so that they stay near for all columns.
void multiply_repacked(const RepackedRows& ops, const Tensor& weights, const std::byte* rows, int64_t n_rows,
                       const Int8Columns& columns, int64_t n, float* out, int64_t out_stride) {
    const int64_t k = weights.ne[0], near = n <= few_int8_columns ? n_rows : most_rows_at_once;
    const int64_t at_once = columns_at_once(bytes_of_column(columns));
    for (int64_t row = 0; row < n_rows; row += near) {
        for (int64_t j = 0; j < n; j += at_once) {
            ops.multiply(rows + row * static_cast<int64_t>(weights.nb[1]), std::min(near, n_rows - row), k, columns.from(j),
                         std::min(at_once, n - j), out + j * out_stride + row, out_stride);
        }
    }
}

/// Rows laid out as panels in `room`.
void multiply_panels(const Work& work, const Tensor& weights, const std::byte* rows, int64_t n_rows, const Int8Columns& columns,
                     int64_t n, float* out, int64_t out_stride, float* room) {
    const int64_t k = weights.ne[0], in_panel = work.vector.panel_rows;
    const Int8Rows& ops = work.vector.blocks[ordinal(weights.type)].int8;
    auto* const panels = reinterpret_cast<std::byte*>(room);
    const RepackedRows* const repacked = repacked_rows(weights);
    for (int64_t i = 0; i < n_rows; i += in_panel) {
        const std::byte* const from = rows + static_cast<size_t>(i) * weights.nb[1];
        std::byte* const panel = panels + i / in_panel * ops.panel_bytes(k);
        if (repacked != nullptr) {
            repacked->unfold(from, k, panel);
        } else {
            ops.pack(from, weights.nb[1], std::min(in_panel, n_rows - i), k, panel);
        }
    }
    const int64_t at_once = columns_at_once(bytes_of_column(columns));
    const auto bytes = n_rows * static_cast<int64_t>(weights.nb[1]);
    const std::byte* const next = rows + bytes * work.n_parts; // about: the other parts take their stretches meanwhile
    for (int64_t j = 0; j < n; j += at_once) {
        ops.multiply(panels, n_rows, k, columns.from(j), std::min(at_once, n - j), out + j * out_stride, out_stride, next,
                     j == 0 ? bytes : 0);
    }
}

} // namespace

bool in_whole_numbers(Products products, const VectorOps& vector, Type weights) noexcept {
    return products == Products::int8 && vector.blocks[ordinal(weights)].int8.dot != nullptr;
}

bool is_plain(const Tensor& t) noexcept { return t.type == Type::F32 && has_contiguous_rows(t) && t.nb[1] % sizeof(float) == 0; }

const std::byte* weights_data(const Tensor& weights) noexcept {
    const std::byte* const repacked = repacked_data(weights);
    return repacked != nullptr ? repacked : host_data(weights);
}

int64_t rows_at_once(const Work& work, const Tensor& weights) noexcept {
    const bool plain_floats = !in_whole_numbers(work.products, work.vector, weights.type) && repacked_rows(weights) == nullptr;
    return plain_floats ? expanded_rows : most_rows_at_once;
}

std::optional<Rounding> rounding_for(Products products, const VectorOps& vector, const Tensor& weights, int64_t n) noexcept {
    if (!in_whole_numbers(products, vector, weights.type)) {
        return std::nullopt;
    }
    if (const RepackedRows* const repacked = repacked_for(weights, n)) {
        return Rounding{false, repacked->taken_off, repacked->scaled};
    }
    return Rounding{n > few_int8_columns || repacked_rows(weights) != nullptr};
}

int64_t room_of_columns(const Work& work, const Tensor& weights, const Tensor& b) noexcept {
    const std::optional<Rounding> rounding = rounding_for(work, weights, b.ne[1]);
    const bool shared = rounding && work.common.columns.has(b, *rounding);
    return (is_plain(b) ? 0 : b.ne[0] * b.ne[1]) + (rounding && !shared ? RoundedColumns::room_for(b.ne[0], b.ne[1]) : 0);
}

Columns columns_of(const Work& work, const Tensor& weights, const Tensor& b, int64_t i2, int64_t i3, float* room) {
    const int64_t n = b.ne[1];
    if (is_plain(b)) {
        const auto* data = reinterpret_cast<const float*>(row_data(b, {0, i2, i3}));
        const Columns floats{data, static_cast<int64_t>(b.nb[1] / sizeof(float))};
        const std::optional<Rounding> rounding = rounding_for(work, weights, n);
        if (rounding && work.common.columns.has(b, *rounding)) {
            return {floats.data, floats.stride, work.common.columns.columns().from((i3 * b.ne[2] + i2) * n)};
        }
        return with_int8(work, weights, floats, n, room);
    }
    const int64_t k = b.ne[0];
    for (int64_t j = 0; j < n; ++j) {
        float* column = room + j * k;
        const float* read = read_row(b, row_data(b, {j, i2, i3}), column, work.vector);
        if (read != column) {
            std::copy(read, read + k, column);
        }
    }
    return with_int8(work, weights, {room, k}, n, room + n * k);
}

int64_t room_of_int8(const Work& work, const Tensor& weights, int64_t n) noexcept {
    return rounding_for(work, weights, n) ? RoundedColumns::room_for(weights.ne[0], n) : 0;
}

Columns with_int8(const Work& work, const Tensor& weights, Columns columns, int64_t n, float* room) {
    if (const std::optional<Rounding> rounding = rounding_for(work, weights, n)) {
        const RoundedColumns rounded(*rounding, room, weights.ne[0], n);
        rounded.round(work.vector, columns.data, columns.stride, 0, n);
        columns.int8 = rounded.columns();
    }
    return columns;
}

int64_t room_of_rows(const Work& work, const Tensor& weights, int64_t n) noexcept {
    const int64_t k = weights.ne[0];
    if (!in_whole_numbers(work.products, work.vector, weights.type)) {
        return (n <= few_columns ? 1 : most_rows_at_once) * k;
    }
    const int64_t of_panel = work.vector.blocks[ordinal(weights.type)].int8.panel_bytes(k);
    const bool as_they_lie = repacked_rows(weights) != nullptr ? repacked_for(weights, n) != nullptr : n <= few_int8_columns;
    return as_they_lie ? 0 : most_rows_at_once / work.vector.panel_rows * of_panel / float_bytes;
}

void multiply_rows(const Work& work, const Tensor& weights, const std::byte* matrix, int64_t first, int64_t end,
                   const Columns& columns, int64_t n, float* out, int64_t out_stride, float* room) {
    const int64_t k = weights.ne[0];
    const VectorOps& v = work.vector;
    const bool is_int8 = columns.int8.codes != nullptr;
    if (const RepackedRows* const repacked = repacked_for(weights, n)) {
        return multiply_repacked(*repacked, weights, matrix + first * static_cast<int64_t>(weights.nb[1]), end - first,
                                 columns.int8, n, out + first, out_stride);
    }
    if (is_int8 && n <= few_int8_columns && repacked_rows(weights) == nullptr) {
        return multiply_few(weights, matrix, first, end, columns.int8, n, out, out_stride, v);
    }
    const RowOps* const floats = rows_of_floats(weights, n, v);
    const bool is_laid_out = repacked_rows(weights) != nullptr;
    if (floats != nullptr && is_laid_out) {
        return multiply_laid_out(*floats, weights, matrix + first * weights.nb[1], end - first, columns, n, out + first,
                                 out_stride, v);
    }
    if (floats != nullptr && n > 1) {
        return multiply_floats(*floats, weights, matrix, first, end, columns, n, out, out_stride);
    }
    if (!is_int8 && n <= few_columns) {
        for (int64_t row = first; row < end; ++row) {
            dot_row(weights, matrix + row * weights.nb[1], columns, n, out + row, out_stride, room, v);
        }
        return;
    }
    const int64_t at_once = rows_at_once(work, weights);
    for (int64_t row = first; row < end; row += at_once) {
        const int64_t rows = std::min(at_once, end - row);
        const std::byte* const from = matrix + row * weights.nb[1];
        if (is_int8) {
            multiply_panels(work, weights, from, rows, columns.int8, n, out + row, out_stride, room);
            continue;
        }
        const float* a = reinterpret_cast<const float*>(from);
        int64_t lda = weights.nb[1] / sizeof(float);
        if (is_laid_out) {
            take_back(weights, from, rows, room, v);
            a = room;
            lda = k;
        } else if (weights.type != Type::F32) {
            for (int64_t i = 0; i < rows; ++i) {
                read_row(weights, from + i * weights.nb[1], room + i * k, v);
            }
            a = room;
            lda = k;
        }
        const int64_t block = columns_at_once(k * float_bytes);
        for (int64_t j = 0; j < n; j += block) {
            v.multiply(a, lda, rows, columns.data + j * columns.stride, columns.stride, std::min(block, n - j), k,
                       out + j * out_stride + row, out_stride);
        }
    }
}

} // namespace schedscope::cpu
