#pragma once

#include "runtime/numbers.h"
#include "runtime/ops/type.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace schedscope {

/// Floats in a vector of the widest instruction set; a multiple of each one's. What is laid out in memory or padded by it does
/// not depend on the set.
constexpr int64_t widest_vector = 16;

/// Columns of a product as whole numbers with a scale for each 32: element l of column j is
/// codes[j × stride + l] × scales[j × group_stride + l / group].
struct Int8Columns {
    static constexpr int group = 16, unit = 256;
    const int8_t* codes = nullptr; ///< readable, and anything, up to a multiple of `unit`; for panels see VectorOps::quantise
    int64_t stride = 0;            ///< a multiple of `unit`
    const float* scales = nullptr; ///< of each group; readable, and finite, up to stride / group
    const float* sums = nullptr;   ///< of each group's elements; with `begins` of `scaled` elements, at their first group
    int64_t group_stride = 0;      ///< stride / group
    /// What RepackedRows' sums of whole numbers begin with: for each of their `scaled` elements −taken_off × the sum of the
    /// column's numbers. `group_stride` apart as well; null: there are none.
    const int32_t* begins = nullptr;

    Int8Columns from(int64_t column) const noexcept {
        return {codes + column * stride,      stride,       scales + column * group_stride,
                sums + column * group_stride, group_stride, begins != nullptr ? begins + column * group_stride : nullptr};
    }
};

/// Columns of a product rounded to BF16: element l of column j is numbers[j × stride + l].
struct Bf16Columns {
    const uint16_t* numbers = nullptr;
    int64_t stride = 0;

    Bf16Columns from(int64_t column) const noexcept { return {numbers + column * stride, stride}; }
};

/// How far ahead rows are fetched into the cache that are read one after the other, in bytes: the processor, which sees ahead by
/// itself within a row, doesn't where several rows are read at once or a row is short.
constexpr int64_t fetched_ahead = 8192;
/// Are weights fetched ahead, too, that are read for one column from their begin to their end? Not where the processor does
/// better by itself: on Zen 4 asking for them takes from what is read (110m's F16 weights 11.5 instead of 21 GB/s, Q8_0's 21 of
/// 27). SCHEDSCOPE_CPU_FETCHES=on|off has it otherwise.
bool fetches_in_order() noexcept;

/// The same from a place of `at_once` rows that are read together, `stride` bytes apart, with `left` bytes of each to be read:
/// the next ones lie behind the last. (Inlined always: it is compiled for several instruction sets.)
__attribute__((always_inline)) inline int64_t fetched_ahead_of(int64_t at_once, int64_t stride, int64_t left) noexcept {
    return fetched_ahead + (left <= fetched_ahead ? (at_once - 1) * stride : 0);
}

/// Asks for memory that is read soon; there need not be any. A little at a time: what the processor waits with is soon full, and
/// then it calculates nothing either. Where several columns pass through the first cache meanwhile, into the second: four columns
/// with "mul_mat f16 as it lies 32768x4x2048" of ops_bench take 5.6 ms, 11.9 if all are to be in the first (Zen 4).
template <int n_columns = 1> __attribute__((always_inline)) inline void fetch(const void* p, int64_t n_bytes) {
    constexpr int64_t line = 64;
    for (int64_t at = 0; at < n_bytes; at += line) {
        __builtin_prefetch(static_cast<const char*>(p) + at, 0, n_columns == 1 ? 3 : 2);
    }
}

/// A type's rows of quantised blocks with such columns (isa_int8.h, isa_panels.h). n: elements of a row.
struct Int8Rows {
    static constexpr int max_columns = 4;
    /// out[j × out_stride + r] = Σ row r [i] x[j][i] for rows r < n_rows, `stride` bytes apart, and j < n_columns ≤ max_columns.
    /// Rows that lie `fetched_ahead` further are fetched meanwhile.
    void (*dot)(const std::byte* rows, size_t stride, int64_t n_rows, const Int8Columns& x, int n_columns, int64_t n, float* out,
                int64_t out_stride) = nullptr;
    /// Rows side by side, VectorOps::panel_rows of them, laid out for many columns: how large, and made of rows `stride` bytes
    /// apart.
    int64_t (*panel_bytes)(int64_t n) = nullptr;
    void (*pack)(const std::byte* rows, size_t stride, int64_t n_rows, int64_t n, std::byte* panel) = nullptr;
    /// out[j × out_stride + i] = Σ row i × column j, of n_rows in panels one behind the other; the columns are lifted. Meanwhile
    /// what is `next` is fetched into the cache; it need not be there.
    void (*multiply)(const std::byte* panels, int64_t n_rows, int64_t n, const Int8Columns& x, int64_t n_columns, float* out,
                     int64_t out_stride, const std::byte* next, int64_t next_bytes) = nullptr;
};

/// A type's rows laid out once: of quantised ones VectorOps::panel_rows side by side in as many bytes as they had, one such panel
/// behind the other (isa_repacked.h), for such columns; of floats see repacked_memory.h, which has no more than the first two
/// functions. n: elements of a row.
struct RepackedRows {
    /// Makes a panel of its rows, which lie one behind the other; and the rows of a panel.
    void (*lay_out)(const std::byte* rows, int64_t n, std::byte* panel) = nullptr;
    void (*take_back)(const std::byte* panel, int64_t n, std::byte* rows) = nullptr;
    /// out[j × out_stride + i] = Σ row i × column j of whole panels; the columns have `begins` and are not lifted. What lies
    /// `fetched_ahead` further is fetched meanwhile (for one column: where fetches_in_order(), and the column itself).
    void (*multiply)(const std::byte* panels, int64_t n_rows, int64_t n, const Int8Columns& x, int64_t n_columns, float* out,
                     int64_t out_stride) = nullptr;
    /// Makes of a panel what Int8Rows::pack makes of its rows: for more columns than these, for which `multiply` is the faster.
    /// Null: it is the faster for all.
    void (*unfold)(const std::byte* panel, int64_t n, std::byte* unfolded) = nullptr;
    int64_t few_columns = 0;
    int taken_off = 0, scaled = 0; ///< of Int8Columns::begins, and with them of its sums
};

/// Rows of quantised blocks (block_ops_isa.cpp). n is a multiple of the type's block. Each quantised type can be expanded; TQ1_0
/// and the IQ1 to IQ3 types have nothing else.
struct BlockOps {
    static constexpr int max_columns = 4;
    /// out[j] = Σ row[i] x[j × stride + i] for j < n_columns ≤ max_columns: the row is taken apart once for all columns.
    void (*dot)(const void* row, const float* x, int64_t stride, int n_columns, int64_t n, float* out) = nullptr;
    void (*expand)(const void* row, float* out, int64_t n) = nullptr;
    Int8Rows int8 = {};
    RepackedRows repacked = {}; ///< null functions where rows are not laid out
};

/// Rows of F32, F16, BF16 or blocks of 32 that lie where they are, `stride` bytes apart, with few columns: each number is read
/// once for several of these, and nothing is expanded. Meanwhile rows that lie `ahead` rows further, if that is not 0, are
/// fetched into the cache; there need not be such rows.
struct RowOps {
    /// out[j × ldo + i] = Σ row(i)[l] x[j × ldx + l] for i < n, j < m, l < d.
    void (*multiply)(const std::byte* rows, size_t stride, int64_t n, int64_t ahead, const float* x, int64_t ldx, int64_t m,
                     int64_t d, float* out, int64_t ldo) = nullptr;
    /// sums[j × lds + l] += Σ w[j × ldw + i] row(i)[l] for j < m, i < n, l < d.
    void (*accumulate)(const std::byte* rows, size_t stride, int64_t n, int64_t ahead, const float* w, int64_t ldw, int64_t m,
                       int64_t d, float* sums, int64_t lds) = nullptr;
    /// Columns that a number is read once for. With more of them rows had better be expanded first: they are taken apart again.
    int64_t columns_at_once = 0;
    /// Rows to multiply at a time: they stay in the first cache while columns pass by, or are kept there as they are read.
    int64_t rows_at_once = 0;
};

/// Products of numbers of BF16, two at a time, that are summed up as floats (isa_bf16.h). What is too small for a normal float
/// counts as 0. Null functions where there is no instruction for it.
struct Bf16Ops {
    /// Floats to the nearest, of two to the even one; NaN stays.
    void (*round)(const float* x, int64_t n, uint16_t* out) = nullptr;
    /// out[j × ldo + i] = Σ row(i)[l] column(j)[l] for rows i < n, `stride` bytes apart, columns j < m and l < d; `adds`: += in
    /// place of =. Meanwhile what lies `ahead` bytes further than the rows, if that is not 0, is fetched; it need not be there.
    void (*multiply)(const std::byte* rows, size_t stride, int64_t n, int64_t ahead, const Bf16Columns& x, int64_t m, int64_t d,
                     bool adds, float* out, int64_t ldo) = nullptr;
};

/// From products of a query with keys to scores.
struct ScoreRule {
    float scale = 1;
    float cap = 0;                  ///< not 0: cap × tanh(x / cap)
    float slope = 1;                ///< of the mask
    const uint16_t* mask = nullptr; ///< halves to be added; what is at −∞ is not seen and may hold anything
};

/// The inner loops of the CPU backend, compiled once for each instruction set from the same sources (*_isa.cpp). Pointers need no
/// alignment; n is any number ≥ 0 of floats. In and out may be the same address, but must not overlap otherwise.
struct VectorOps {
    /// "portable"; "avx2", "avxvnni", "avx512", "avx512vnni", "avx512bf16"; "neon", "neon_dot", "neon_i8mm"
    std::string_view name;
    const BlockOps* blocks; ///< by type; null functions where a type is not quantised
    const RowOps* rows;     ///< by type; null functions where there are none
    Bf16Ops bf16;
    int64_t panel_rows; ///< of Int8Rows and RepackedRows
    /// A column for Int8Rows: n (a multiple of 32) floats. lifts: for panels of Int8Rows. NaN or infinity makes its scale NaN.
    /// totals: each group's numbers summed up.
    void (*quantise)(const float* x, int64_t n, bool lifts, int8_t* codes, float* scales, float* sums, int32_t* totals);

    /// Σ a[i] × b[i].
    float (*dot_f32)(const float* a, const float* b, int64_t n);
    float (*dot_f16)(const uint16_t* a, const float* b, int64_t n);
    float (*dot_bf16)(const uint16_t* a, const float* b, int64_t n);

    void (*half_to_floats)(const uint16_t* in, float* out, int64_t n);
    void (*floats_to_half)(const float* in, uint16_t* out, int64_t n);

    /// What `accumulate` takes together: numbers side by side of a (64 is a multiple), rows of b (few).
    int64_t tile_rows, tile_columns;
    /// c[j × ldc + i] += Σ b[j × ldb + l] a[l × lda + i] for i < m, j < n, l < k: sums of rows of a, weighted. Rows are ld…
    /// floats apart; c must not overlap a and b. What lies behind the n rows of b is fetched; it need not be there.
    void (*accumulate)(const float* a, int64_t lda, int64_t m, const float* b, int64_t ldb, int64_t n, int64_t k, float* c,
                       int64_t ldc);
    /// out[l × ldo + i] = in[i × ldi + l] for i < m, l < n; they do not overlap.
    void (*transpose)(const float* in, int64_t ldi, int64_t m, int64_t n, float* out, int64_t ldo);

    double (*sum)(const float* x, int64_t n);
    double (*sum_of_squares)(const float* x, int64_t n);
    float (*max)(const float* x, int64_t n); ///< −∞ for n = 0
    void (*add)(const float* a, const float* b, float* out, int64_t n);
    void (*multiply_elements)(const float* a, const float* b, float* out, int64_t n);
    void (*scale)(const float* x, float factor, float bias, float* out, int64_t n);              ///< x × factor + bias
    void (*scale_multiply)(const float* x, float factor, const float* w, float* out, int64_t n); ///< x × factor × w
    void (*add_scaled)(float* acc, const float* x, float factor, int64_t n);                     ///< acc += x × factor
    /// out = exp(x − shift); returns the sum.
    double (*exp_sum)(const float* x, float shift, float* out, int64_t n);
    /// Products to scores; returns the highest that is a number, −∞ if there is none.
    float (*scores)(float* x, int64_t n, const ScoreRule& rule);
    void (*silu)(const float* x, float* out, int64_t n);
};

/// Those that this processor can run, the widest last.
std::span<const VectorOps* const> usable_vector_ops() noexcept;

/// The widest usable, or what SCHEDSCOPE_CPU (a name) asks for if that is usable.
const VectorOps& best_vector_ops() noexcept;
/// Throws Error(usage) where the environment asks for an instruction set that is not usable here, or for something unknown.
void require_known_settings();

extern const VectorOps vector_ops_portable, vector_ops_avx2, vector_ops_avxvnni, vector_ops_avx512, vector_ops_avx512vnni,
    vector_ops_avx512bf16, vector_ops_neon, vector_ops_neon_dot, vector_ops_neon_i8mm;
constexpr size_t n_types = ordinal(Type::count);
extern const BlockOps block_ops_portable[n_types], block_ops_avx2[n_types], block_ops_avxvnni[n_types], block_ops_avx512[n_types],
    block_ops_avx512vnni[n_types], block_ops_avx512bf16[n_types], block_ops_neon[n_types], block_ops_neon_dot[n_types],
    block_ops_neon_i8mm[n_types];

} // namespace schedscope
