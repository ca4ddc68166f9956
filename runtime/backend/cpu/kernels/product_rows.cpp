#include "runtime/backend/cpu/kernels/product_rows.h"

#include "runtime/backend/cpu/kernels/operators.h"
#include "runtime/backend/cpu/repacked_memory.h"
#include "runtime/numbers.h"

#include <algorithm>
#include <optional>

namespace schedscope::cpu {

namespace {

/// Up to these each row is multiplied as it lies, taken apart once for all of them. Of more, packing pays: ops_bench's "mul_mat
/// q4_0 as it lies 4096x8x4096" takes 1.6 to 2.2 ms, twice four columns 2.4 (Zen 4, AVX-512 VNNI).
constexpr int64_t few_columns = BlockOps::max_columns, few_int8_columns = Int8Rows::max_columns;
constexpr int64_t few_panel_columns = 8; ///< up to these panels that were laid out pass by once
/// And several rows of floats together: ops_bench's "mul_mat f32 as it lies 4096x64x4096" takes 25 ms, 28 where they are packed
/// (Zen 4).
constexpr int64_t some_columns = 64;
/// From these on BF16 is multiplied as that: ops_bench's "mul_mat bf16 as it lies 4096x2x4096" takes 1.4 ms, 2.0 in floats (Zen
/// 4).
constexpr int64_t least_bf16_columns = 2;
static_assert(least_bf16_columns <= some_columns + 1, "with fewer columns there may be no room for expanded rows");
static_assert(rows_at_once == rows_laid_out_together && rows_at_once % widest_vector == 0);
constexpr int64_t rows_near = 8; ///< of floats, which stay in the first cache while some_columns pass by
/// Numbers of each row that are packed together, and of those the ones that are expanded together, multiples of every block.
/// Panels stay in the second cache.
constexpr int64_t packed_numbers = 1024, expanded_numbers = 256;
constexpr int64_t expanded_stride = expanded_numbers + widest_vector; ///< so that rows do not fall on the same lines of the cache
constexpr int64_t expanded_columns = 512;                             ///< whose sums stay near meanwhile
constexpr int64_t float_bytes = sizeof(float);
constexpr int64_t column_bytes = 384 * 1024; ///< columns that are kept near while the rows pass by

/// How a product of such weights and so many columns is computed. Which columns it takes, how many rows together and how much
/// room for them follow from it.
enum class ProductWay : uint8_t {
    // In whole numbers, of quantised weights.
    int8_as_they_lie, ///< few columns
    int8_packed,      ///< a stretch of rows is packed into panels first (Int8Rows)
    int8_laid_out,    ///< weights that were laid out, as they lie
    int8_unfolded,    ///< a stretch of those is made into such panels first
    // In BF16, of weights of it, with sums of floats.
    bf16_as_they_lie,
    bf16_laid_out, ///< by stretches of rows that were laid out
    // In floats, of weights of floats.
    floats_row_by_row,    ///< one column
    floats_some_together, ///< some columns, several rows together, as they lie
    floats_laid_out,      ///< some columns with rows that were laid out
    // In floats, of what is expanded to them, or packed.
    blocks_as_they_lie, ///< few columns
    expanded_rows,      ///< some columns with a few rows at a time, which are expanded first
    expanded,           ///< a stretch of rows is, and packed into panels
    expanded_laid_out,  ///< such a stretch of floats that were laid out
};

/// Where the processor fetches by itself one row is read as fast as it can. Elsewhere four at once are read faster: of F16 at 11
/// instead of 9 GB/s, where the limit is 14 (Zen 3, ops_bench's "mul_mat f16 as it lies 131072x1x768").
bool one_row_at_a_time(int64_t n) noexcept { return n == 1 && !fetches_in_order(); }

/// Weights that were laid out are multiplied by what they were laid out for: CpuBackend sees to that.
ProductWay way_of(Products products, const VectorOps& vector, const Tensor& weights, int64_t n) noexcept {
    const bool laid_out = repacked_data(weights) != nullptr;
    if (in_whole_numbers(products, vector, weights.type)) {
        if (laid_out) {
            const RepackedRows& ops = vector.blocks[ordinal(weights.type)].repacked;
            return ops.unfold == nullptr || n <= ops.few_columns ? ProductWay::int8_laid_out : ProductWay::int8_unfolded;
        }
        return n <= few_int8_columns ? ProductWay::int8_as_they_lie : ProductWay::int8_packed;
    }
    if (in_bf16(products, vector, weights.type, n)) {
        return laid_out ? ProductWay::bf16_laid_out : ProductWay::bf16_as_they_lie;
    }
    const bool few_enough = n <= std::min(some_columns, vector.rows[ordinal(weights.type)].columns_at_once);
    if (laid_out) {
        return few_enough ? ProductWay::floats_laid_out : ProductWay::expanded_laid_out;
    }
    if (is_float(weights.type) && few_enough) {
        return one_row_at_a_time(n) ? ProductWay::floats_row_by_row : ProductWay::floats_some_together;
    }
    if (n <= few_columns && vector.blocks[ordinal(weights.type)].dot != nullptr) {
        return ProductWay::blocks_as_they_lie;
    }
    return n <= some_columns ? ProductWay::expanded_rows : ProductWay::expanded;
}
ProductWay way_of(const Work& work, const Tensor& weights, int64_t n) noexcept {
    return way_of(work.products, work.vector, weights, n);
}

/// The first n numbers of rows of floats with those of one column.
void dot_rows(Type type, const std::byte* rows, size_t stride, int64_t n_rows, const float* x, int64_t n, float* out,
              const VectorOps& v) {
    for (int64_t row = 0; row < n_rows; ++row, rows += stride) {
        switch (type) {
        case Type::F16: out[row] = v.dot_f16(reinterpret_cast<const uint16_t*>(rows), x, n); break;
        case Type::BF16: out[row] = v.dot_bf16(reinterpret_cast<const uint16_t*>(rows), x, n); break;
        default: out[row] = v.dot_f32(reinterpret_cast<const float*>(rows), x, n); break;
        }
    }
}

/// Rows of blocks as they lie.
void dot_blocks(const Tensor& weights, const std::byte* rows, int64_t n_rows, const Columns& x, int64_t n, float* out,
                int64_t out_stride, const VectorOps& v) {
    const BlockOps& blocks = v.blocks[ordinal(weights.type)];
    for (int64_t row = 0; row < n_rows; ++row, rows += weights.nb[1]) {
        fetch(rows + fetched_ahead, static_cast<int64_t>(weights.nb[1]));
        float results[BlockOps::max_columns];
        blocks.dot(rows, x.data, x.stride, int_of(n), weights.ne[0], results);
        for (int64_t j = 0; j < n; ++j) {
            out[j * out_stride + row] = results[j];
        }
    }
}

/// Several rows of floats together; each number is read once for several columns.
void multiply_floats(const RowOps& ops, const Tensor& weights, const std::byte* rows, int64_t n_rows, const Columns& x, int64_t n,
                     float* out, int64_t out_stride) {
    const auto stride = static_cast<int64_t>(weights.nb[1]);
    const int64_t ahead = std::max(rows_near, fetched_ahead / std::max<int64_t>(stride, 1));
    for (int64_t row = 0; row < n_rows; row += ops.rows_at_once) {
        ops.multiply(rows + row * stride, weights.nb[1], std::min(ops.rows_at_once, n_rows - row), ahead, x.data, x.stride, n,
                     weights.ne[0], out + row, out_stride);
    }
}

/// Rows of what is expanded into `room`, a few at a time.
void multiply_expanded_rows(const Work& work, const Tensor& weights, const std::byte* rows, int64_t n_rows, const Columns& x,
                            int64_t n, float* out, int64_t out_stride, float* room) {
    const int64_t k = weights.ne[0];
    const RowOps& floats = work.vector.rows[ordinal(Type::F32)];
    for (int64_t row = 0; row < n_rows; row += rows_near) {
        const int64_t some = std::min(rows_near, n_rows - row);
        for (int64_t i = 0; i < some; ++i, rows += weights.nb[1]) {
            fetch(rows + fetched_ahead, static_cast<int64_t>(weights.nb[1]));
            to_floats(weights.type, rows, room + i * k, k, work.vector);
        }
        floats.multiply(reinterpret_cast<const std::byte*>(room), k * sizeof(float), some, 0, x.data, x.stride, n, k, out + row,
                        out_stride);
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
        const auto stride = static_cast<size_t>(length) * weights.nb[0];
        if (one_row_at_a_time(n)) {
            dot_rows(weights.type, stretch, stride, together, x.data + at, length, sums, v);
        } else {
            const int64_t ahead = n == 1 ? rows_near : together; // several columns are read again meanwhile
            ops.multiply(stretch, stride, together, std::max(ahead, fetched_ahead / static_cast<int64_t>(stride)), x.data + at,
                         x.stride, n, length, sums, together);
        }
        for (int64_t j = 0; j < n; ++j) {
            float* const to = out + j * out_stride + row;
            for (int64_t r = 0; r < together; ++r) {
                to[r] = at == 0 ? sums[j * together + r] : to[r] + sums[j * together + r];
            }
        }
    });
}

/// What some numbers of rows are packed into for the arithmetic.
struct ExpandedRoom {
    explicit ExpandedRoom(float* room) noexcept
        : near(room), panels(near + rows_at_once * expanded_stride), sums(panels + rows_at_once * packed_numbers) {}
    static constexpr int64_t size = rows_at_once * (expanded_stride + packed_numbers + expanded_columns);
    static constexpr int64_t most_tile_columns = 16, column_stride = packed_numbers + widest_vector;
    static_assert(most_tile_columns * column_stride <= rows_at_once * expanded_stride);
    float* near;   ///< rows as floats, expanded_stride apart; then a tile's columns, column_stride apart
    float* panels; ///< of a tile's rows each, number l of all of them side by side
    float* sums;   ///< rows_at_once of each column
};

/// Packs n numbers of each row; rows begin at `rows`, `stride` bytes apart.
void pack(const VectorOps& v, Type type, const std::byte* rows, size_t stride, int64_t n_rows, int64_t n,
          const ExpandedRoom& room) {
    for (int64_t at = 0; at < n; at += expanded_numbers) {
        const int64_t some = std::min(expanded_numbers, n - at);
        const std::byte* from = rows + row_bytes(type, at);
        for (int64_t i = 0; i < n_rows; ++i, from += stride) {
            to_floats(type, from, room.near + i * expanded_stride, some, v);
        }
        for (int64_t i = 0; i < n_rows; i += v.tile_rows) {
            v.transpose(room.near + i * expanded_stride, expanded_stride, std::min(v.tile_rows, n_rows - i), some,
                        room.panels + i * packed_numbers + at * v.tile_rows, v.tile_rows);
        }
    }
}

/// Adds the products of n numbers of packed rows with those of m columns to the sums.
void add_packed(const VectorOps& v, int64_t n_rows, int64_t n, const float* x, int64_t ldx, int64_t m, const ExpandedRoom& room) {
    const int64_t whole_vectors = (n_rows + widest_vector - 1) / widest_vector * widest_vector;
    // Where several tiles read the same columns, these are copied near first: apart by powers of two, as they often are, they
    // would drive one another from the cache (AVX2 on Zen 4: 85 Gflop/s where they lie, 106 copied).
    const bool copies = n_rows > v.tile_rows;
    constexpr int64_t apart = ExpandedRoom::column_stride;
    const int64_t at_once = copies ? v.tile_columns : m;
    for (int64_t j = 0; j < m; j += at_once) {
        const int64_t some = std::min(at_once, m - j);
        const float* const columns = x + j * ldx;
        for (int64_t i = 0; copies && i < some; ++i) {
            std::copy_n(columns + i * ldx, n, room.near + i * apart);
        }
        for (int64_t i = 0; i < n_rows; i += v.tile_rows) {
            v.accumulate(room.panels + i * packed_numbers, v.tile_rows, std::min(v.tile_rows, whole_vectors - i),
                         copies ? room.near : columns, copies ? apart : ldx, some, n, room.sums + j * rows_at_once + i,
                         rows_at_once);
        }
    }
}

/// Adds the products of rows with m columns, of n numbers each.
void add_expanded(const VectorOps& v, Type type, const std::byte* rows, size_t stride, int64_t n_rows, int64_t n, const float* x,
                  int64_t ldx, int64_t m, const ExpandedRoom& room) {
    for (int64_t at = 0; at < n; at += packed_numbers) {
        const int64_t some = std::min(packed_numbers, n - at);
        pack(v, type, rows + row_bytes(type, at), stride, n_rows, some, room);
        add_packed(v, n_rows, some, x + at, ldx, m, room);
    }
}

/// A stretch of rows, laid out or as they lie, with many columns.
void multiply_expanded(const Work& work, ProductWay way, const Tensor& weights, const std::byte* rows, int64_t n_rows,
                       const Columns& x, int64_t n, float* out, int64_t out_stride, const ExpandedRoom& room) {
    for (int64_t j = 0; j < n; j += expanded_columns) {
        const int64_t m = std::min(expanded_columns, n - j);
        const float* const columns = x.data + j * x.stride;
        std::fill_n(room.sums, m * rows_at_once, 0.0F);
        if (way == ProductWay::expanded) {
            add_expanded(work.vector, weights.type, rows, weights.nb[1], n_rows, weights.ne[0], columns, x.stride, m, room);
        } else {
            each_stretch_of(weights, rows, n_rows, [&](int64_t /*row*/, int64_t at, int64_t length, const std::byte* stretch) {
                add_expanded(work.vector, weights.type, stretch, length * weights.nb[0], n_rows, length, columns + at, x.stride,
                             m, room);
            });
        }
        for (int64_t i = 0; i < m; ++i) {
            std::copy_n(room.sums + i * rows_at_once, n_rows, out + (j + i) * out_stride);
        }
    }
}

/// As many columns as stay near, a multiple of every tile's.
int64_t columns_at_once(int64_t bytes_of_one) noexcept {
    constexpr int64_t tiles = 60;
    return std::max(tiles, column_bytes / bytes_of_one / tiles * tiles);
}

/// Bytes of a column that are read.
int64_t bytes_of_column(const Int8Columns& columns) noexcept { return columns.stride + 2 * columns.group_stride * float_bytes; }

/// The first `length` numbers of rows of BF16 with those of n columns.
void multiply_bf16(const Bf16Ops& ops, const std::byte* rows, size_t stride, int64_t n_rows, const Bf16Columns& x, int64_t n,
                   int64_t length, bool adds, float* out, int64_t out_stride) {
    constexpr int64_t together = 8; // at least so many rows further, so that none is fetched that is just read
    const auto apart = static_cast<int64_t>(stride);
    const int64_t ahead = std::max(together * apart, fetched_ahead);
    const int64_t at_once = columns_at_once(length * static_cast<int64_t>(sizeof(uint16_t)));
    for (int64_t j = 0; j < n; j += at_once) {
        ops.multiply(rows, stride, n_rows, j == 0 ? ahead : 0, x.from(j), std::min(at_once, n - j), length, adds,
                     out + j * out_stride, out_stride);
    }
}

/// Such rows where they were laid out: the sums of one stretch are added to those of the ones before it.
void multiply_bf16_laid_out(const Bf16Ops& ops, const Tensor& weights, const std::byte* panels, int64_t n_rows,
                            const Bf16Columns& x, int64_t n, float* out, int64_t out_stride) {
    each_stretch_of(weights, panels, n_rows, [&](int64_t row, int64_t at, int64_t length, const std::byte* stretch) {
        multiply_bf16(ops, stretch, static_cast<size_t>(length) * weights.nb[0], rows_laid_out_together,
                      {x.numbers + at, x.stride}, n, length, at != 0, out + row, out_stride);
    });
}

std::optional<Rounding> rounding_for(const Work& work, const Tensor& weights, int64_t n) noexcept {
    return cpu::rounding_for(work.products, work.vector, weights, n);
}

/// Panels that were laid out, as they lie: a few at a time, so that they stay near for all columns.
void multiply_repacked(const RepackedRows& ops, const Tensor& weights, const std::byte* rows, int64_t n_rows,
                       const Int8Columns& columns, int64_t n, float* out, int64_t out_stride) {
    const int64_t k = weights.ne[0], near = n <= few_panel_columns ? n_rows : rows_at_once;
    const int64_t at_once = columns_at_once(bytes_of_column(columns));
    for (int64_t row = 0; row < n_rows; row += near) {
        for (int64_t j = 0; j < n; j += at_once) {
            ops.multiply(rows + row * static_cast<int64_t>(weights.nb[1]), std::min(near, n_rows - row), k, columns.from(j),
                         std::min(at_once, n - j), out + j * out_stride + row, out_stride);
        }
    }
}

/// Rows as panels in `room`: packed, or unfolded from those that were laid out.
void multiply_panels(const Work& work, ProductWay way, const Tensor& weights, const std::byte* rows, int64_t n_rows,
                     const Int8Columns& columns, int64_t n, float* out, int64_t out_stride, float* room) {
    const int64_t k = weights.ne[0], in_panel = work.vector.panel_rows;
    const BlockOps& blocks = work.vector.blocks[ordinal(weights.type)];
    const Int8Rows& ops = blocks.int8;
    auto* const panels = reinterpret_cast<std::byte*>(room);
    for (int64_t i = 0; i < n_rows; i += in_panel) {
        const std::byte* const from = rows + i * weights.nb[1];
        std::byte* const panel = panels + i / in_panel * ops.panel_bytes(k);
        if (way == ProductWay::int8_unfolded) {
            blocks.repacked.unfold(from, k, panel);
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

int64_t most_columns(const Tensor& product) noexcept { return product.src[product.op == Op::MUL_MAT ? 1 : 2]->ne[1]; }

bool in_bf16(Products products, const VectorOps& vector, Type weights, int64_t n) noexcept {
    return products != Products::floats && weights == Type::BF16 && n >= least_bf16_columns && vector.bf16.multiply != nullptr;
}

bool is_plain(const Tensor& t) noexcept { return t.type == Type::F32 && has_contiguous_rows(t) && t.nb[1] % sizeof(float) == 0; }

const std::byte* weights_data(const Tensor& weights) noexcept {
    const std::byte* const repacked = repacked_data(weights);
    return repacked != nullptr ? repacked : host_data(weights);
}

std::optional<Rounding> rounding_for(Products products, const VectorOps& vector, const Tensor& weights, int64_t n) noexcept {
    const RepackedRows& repacked = vector.blocks[ordinal(weights.type)].repacked;
    switch (way_of(products, vector, weights, n)) {
    case ProductWay::int8_as_they_lie: return Rounding{};
    case ProductWay::int8_laid_out: return Rounding{.taken_off = repacked.taken_off, .scaled = repacked.scaled};
    case ProductWay::int8_packed:
    case ProductWay::int8_unfolded: return Rounding{.lifts = true};
    case ProductWay::bf16_as_they_lie:
    case ProductWay::bf16_laid_out: return Rounding{.to_bf16 = true};
    default: return std::nullopt;
    }
}

int64_t room_of_columns(const Work& work, const Tensor& weights, const Tensor& b) noexcept {
    const std::optional<Rounding> rounding = rounding_for(work, weights, b.ne[1]);
    const bool shared = rounding && work.common.columns.has(b, *rounding);
    return (is_plain(b) ? 0 : b.ne[0] * b.ne[1]) +
           (rounding && !shared ? RoundedColumns::room_for(*rounding, b.ne[0], b.ne[1]) : 0);
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
        return with_rounded(work, weights, floats, n, room);
    }
    const int64_t k = b.ne[0];
    for (int64_t j = 0; j < n; ++j) {
        float* column = room + j * k;
        const float* read = read_row(b, row_data(b, {j, i2, i3}), column, work.vector);
        if (read != column) {
            std::copy(read, read + k, column);
        }
    }
    return with_rounded(work, weights, {room, k}, n, room + n * k);
}

int64_t room_of_rounded(const Work& work, const Tensor& weights, int64_t n) noexcept {
    const std::optional<Rounding> rounding = rounding_for(work, weights, n);
    return rounding ? RoundedColumns::room_for(*rounding, weights.ne[0], n) : 0;
}

Columns with_rounded(const Work& work, const Tensor& weights, Columns columns, int64_t n, float* room) {
    if (const std::optional<Rounding> rounding = rounding_for(work, weights, n)) {
        const RoundedColumns rounded(*rounding, room, weights.ne[0], n);
        rounded.round(work.vector, columns.data, columns.stride, 0, n);
        columns.rounded = rounded.columns();
    }
    return columns;
}

int64_t room_of_rows(const Work& work, const Tensor& weights, int64_t n) noexcept {
    const int64_t k = weights.ne[0];
    const ProductWay way = way_of(work, weights, n);
    switch (way) {
    case ProductWay::int8_packed:
    case ProductWay::int8_unfolded: {
        const int64_t of_panel = work.vector.blocks[ordinal(weights.type)].int8.panel_bytes(k);
        return rows_at_once / work.vector.panel_rows * of_panel / float_bytes;
    }
    case ProductWay::expanded: return std::max(ExpandedRoom::size, rows_near * k); // an expert may get fewer columns
    case ProductWay::expanded_laid_out: return ExpandedRoom::size;
    case ProductWay::expanded_rows: return rows_near * k;
    default: return 0;
    }
}

void multiply_rows(const Work& work, const Tensor& weights, const std::byte* matrix, int64_t first, int64_t end,
                   const Columns& columns, int64_t n, float* out, int64_t out_stride, float* room) {
    const VectorOps& v = work.vector;
    const BlockOps& blocks = v.blocks[ordinal(weights.type)];
    const RowOps& floats = v.rows[ordinal(weights.type)];
    const ProductWay way = way_of(work, weights, n);
    const std::byte* rows = matrix + first * static_cast<int64_t>(weights.nb[1]);
    out += first;
    const int64_t count = end - first;
    switch (way) {
    case ProductWay::int8_as_they_lie:
        return blocks.int8.dot(rows, weights.nb[1], count, columns.rounded.int8, int_of(n), weights.ne[0], out, out_stride);
    case ProductWay::int8_laid_out:
        return multiply_repacked(blocks.repacked, weights, rows, count, columns.rounded.int8, n, out, out_stride);
    case ProductWay::bf16_as_they_lie:
        work.common.in_bf16.store(true, std::memory_order_relaxed);
        return multiply_bf16(v.bf16, rows, weights.nb[1], count, columns.rounded.bf16, n, weights.ne[0], false, out, out_stride);
    case ProductWay::bf16_laid_out:
        work.common.in_bf16.store(true, std::memory_order_relaxed);
        return multiply_bf16_laid_out(v.bf16, weights, rows, count, columns.rounded.bf16, n, out, out_stride);
    case ProductWay::floats_row_by_row:
        return dot_rows(weights.type, rows, weights.nb[1], count, columns.data, weights.ne[0], out, v);
    case ProductWay::floats_some_together: return multiply_floats(floats, weights, rows, count, columns, n, out, out_stride);
    case ProductWay::floats_laid_out: return multiply_laid_out(floats, weights, rows, count, columns, n, out, out_stride, v);
    case ProductWay::blocks_as_they_lie: return dot_blocks(weights, rows, count, columns, n, out, out_stride, v);
    case ProductWay::expanded_rows: return multiply_expanded_rows(work, weights, rows, count, columns, n, out, out_stride, room);
    default: break;
    }
    for (int64_t row = 0; row < count; row += rows_at_once, rows += rows_at_once * weights.nb[1], out += rows_at_once) {
        const int64_t some = std::min(rows_at_once, count - row);
        if (way == ProductWay::expanded || way == ProductWay::expanded_laid_out) {
            multiply_expanded(work, way, weights, rows, some, columns, n, out, out_stride, ExpandedRoom(room));
        } else {
            multiply_panels(work, way, weights, rows, some, columns.rounded.int8, n, out, out_stride, room);
        }
    }
}

} // namespace schedscope::cpu
