// Products of rows of BF16, as they lie, with columns of it: what vector_ops.h says of Bf16Ops. For the files that are compiled
// once for each instruction set.
#pragma once

#include "runtime/backend/cpu/vectors/isa_blocks.h"
#include "runtime/backend/cpu/vectors/vector_ops.h"

#include <utility>

namespace schedscope {

namespace {

namespace bf16 {

#if defined(__AVX512BF16__)
constexpr int64_t numbers = 2 * width; ///< of a vector, pairs in each lane

void round(const float* x, int64_t n, uint16_t* out) {
    int64_t i = 0;
    for (; i + width <= n; i += width) {
        _mm256_storeu_si256(reinterpret_cast<__m256i*>(out + i),
                            reinterpret_cast<__m256i>(_mm512_cvtneps_pbh(_mm512_loadu_ps(x + i))));
    }
    if (i < n) {
        const auto rest = static_cast<__mmask16>((1U << static_cast<unsigned>(n - i)) - 1);
        _mm256_mask_storeu_epi16(out + i, rest,
                                 reinterpret_cast<__m256i>(_mm512_cvtneps_pbh(_mm512_maskz_loadu_ps(rest, x + i))));
    }
}

/// A tile of up to four rows times some columns: vectors along both, summed at the end. Rows that lie behind each other are
/// fetched so where few columns wait for memory.
template <int n_rows, int n_columns>
void multiply_tile(const std::byte* rows, size_t stride, int64_t ahead, const Bf16Columns& x, int64_t d, bool adds, float* out,
                   int64_t ldo) {
    constexpr int four = 4;
    constexpr int64_t size = sizeof(uint16_t);
    static_assert(n_rows <= four);
    const bool in_order = n_columns <= four && stride == static_cast<size_t>(d * size);
    const std::byte* row[n_rows];
    for (int i = 0; i < n_rows; ++i) {
        row[i] = rows + stride * static_cast<size_t>(i);
    }
    Floats sums[n_columns][four] = {};
    const auto add = [&](int64_t l, auto read) __attribute__((always_inline)) {
        __m512i value[n_rows];
        UNROLL(4)
        for (int i = 0; i < n_rows; ++i) {
            value[i] = read(row[i] + l * size);
        }
        UNROLL(6)
        for (int j = 0; j < n_columns; ++j) {
            const __m512i column = read(x.numbers + j * x.stride + l);
            UNROLL(4)
            for (int i = 0; i < n_rows; ++i) {
                sums[j][i] = reinterpret_cast<Floats>(_mm512_dpbf16_ps(reinterpret_cast<__m512>(sums[j][i]),
                                                                       reinterpret_cast<__m512bh>(value[i]),
                                                                       reinterpret_cast<__m512bh>(column)));
            }
        }
    };
    int64_t l = 0;
    for (; l + numbers <= d; l += numbers) {
        if (ahead != 0) {
            for (int i = 0; i < n_rows; ++i) {
                const std::byte* const next = in_order ? rows + (n_rows * l + i * numbers) * size : row[i] + l * size;
                fetch<n_columns>(next + ahead, 1);
            }
        }
        add(
            l, [](const void* p) __attribute__((always_inline)) { return _mm512_loadu_si512(p); });
    }
    if (l < d) {
        const auto rest = static_cast<__mmask32>((1U << static_cast<unsigned>(d - l)) - 1);
        add(
            l, [rest](const void* p) __attribute__((always_inline)) { return _mm512_maskz_loadu_epi16(rest, p); });
    }
    UNROLL(6)
    for (int j = 0; j < n_columns; ++j) {
        float all[four]; // a row's product does not depend on those beside it
        totals(sums[j][0], sums[j][1], sums[j][2], sums[j][3], all);
        float* const to = out + j * ldo;
        for (int i = 0; i < n_rows; ++i) {
            to[i] = adds ? to[i] + all[i] : all[i];
        }
    }
}

using Tile = void(const std::byte* rows, size_t stride, int64_t ahead, const Bf16Columns& x, int64_t d, bool adds, float* out,
                  int64_t ldo);
/// Tiles of so many rows, by their number of columns less one. 24 sums, four rows and a column fit into the registers.
template <int n_rows, int... fewer> Tile* tile_of(int64_t n_columns, std::integer_sequence<int, fewer...> /*sizes*/) {
    static constexpr Tile* tiles[] = {multiply_tile<n_rows, fewer + 1>...};
    return tiles[n_columns - 1];
}
constexpr int rows_at_once = 4, columns_at_once = 6;

void multiply(const std::byte* rows, size_t stride, int64_t n, int64_t ahead, const Bf16Columns& x, int64_t m, int64_t d,
              bool adds, float* out, int64_t ldo) {
    for (int64_t i = 0; i < n; i += rows_at_once) {
        with_count(n - i, [&](auto count) {
            for (int64_t j = 0; j < m; j += columns_at_once) {
                const int64_t left = m - j;
                Tile* const tile = tile_of<decltype(count)::value>(left < columns_at_once ? left : columns_at_once,
                                                                   std::make_integer_sequence<int, columns_at_once>{});
                tile(rows + stride * static_cast<size_t>(i), stride, j == 0 ? ahead : 0, {x.numbers + j * x.stride, x.stride}, d,
                     adds, out + j * ldo + i, ldo);
            }
        });
    }
}

constexpr Bf16Ops ops{round, multiply};
#else
constexpr Bf16Ops ops{};
#endif

} // namespace bf16

} // namespace

} // namespace schedscope
