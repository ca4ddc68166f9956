// Products of quantised rows with many columns of whole numbers: rows are laid out side by side for them. For the files that are
// compiled once for each instruction set.
#pragma once

#include "runtime/backend/cpu/vectors/isa_int8.h"

namespace schedscope {

namespace {

namespace int8 {

// Panels: `width` rows side by side, a stretch of elements with one scale behind the other: four neighbours of each row in each
// vector (or see in_squares), then what lifting the columns adds, the rows' scales, their offsets. They differ by these two
// things only.
template <int elements, bool has_offsets> struct Panel {
    static constexpr int scaled = elements;
    static constexpr bool offsets = has_offsets;
    static constexpr int vectors = scaled / 4;                  ///< of codes
    static constexpr int scale = vectors + (lift != 0 ? 1 : 0); ///< the vector of the scales
    static constexpr int stretch = scale + 1 + (offsets ? 1 : 0);
};
template <typename Row> using PanelOf = Panel<Row::scaled, Row::offsets>;

template <typename Panel> int64_t panel_bytes(int64_t n) { return n / Panel::scaled * Panel::stretch * bytes; }

constexpr int fours_in_piece = piece / 4;

/// Piece p of block i of each row.
template <typename Row> struct PiecesOfRows {
    const typename Row::Block* const* rows;
    int64_t i;
    int p;
    ALWAYS_INLINE Piece operator()(int r) const { return numbers_of<Row>(rows[r][i], p) - static_cast<uint8_t>(Row::less); }
#if defined(__AVX512F__)
    ALWAYS_INLINE TwoPieces operator()(int r, int s) const {
        return numbers_of<Row>(rows[r][i], rows[s][i], p) - static_cast<uint8_t>(Row::less);
    }
#endif
};
/// Of each row the scales, or offsets, of eight groups.
struct ScalesOfRows {
    const float (*rows)[16];
    int from;
    ALWAYS_INLINE Piece operator()(int r) const { return piece_at(rows[r] + from); }
#if defined(__AVX512F__)
    ALWAYS_INLINE TwoPieces operator()(int r, int s) const { return joined(operator()(r), operator()(s)); }
#endif
};

#if defined(__AVX512F__)
typedef __m512i Lanes;
ALWAYS_INLINE Lanes low(Lanes a, Lanes b) { return _mm512_unpacklo_epi32(a, b); }
ALWAYS_INLINE Lanes high(Lanes a, Lanes b) { return _mm512_unpackhi_epi32(a, b); }
ALWAYS_INLINE Lanes low_pairs(Lanes a, Lanes b) { return _mm512_unpacklo_epi64(a, b); }
ALWAYS_INLINE Lanes high_pairs(Lanes a, Lanes b) { return _mm512_unpackhi_epi64(a, b); }
#elif defined(__AVX2__)
typedef __m256i Lanes;
ALWAYS_INLINE Lanes low(Lanes a, Lanes b) { return _mm256_unpacklo_epi32(a, b); }
ALWAYS_INLINE Lanes high(Lanes a, Lanes b) { return _mm256_unpackhi_epi32(a, b); }
ALWAYS_INLINE Lanes low_pairs(Lanes a, Lanes b) { return _mm256_unpacklo_epi64(a, b); }
ALWAYS_INLINE Lanes high_pairs(Lanes a, Lanes b) { return _mm256_unpackhi_epi64(a, b); }
#else
typedef uint32_t Lanes __attribute__((vector_size(16)));
ALWAYS_INLINE Lanes low(Lanes a, Lanes b) { return __builtin_shufflevector(a, b, 0, 4, 1, 5); }
ALWAYS_INLINE Lanes high(Lanes a, Lanes b) { return __builtin_shufflevector(a, b, 2, 6, 3, 7); }
ALWAYS_INLINE Lanes low_pairs(Lanes a, Lanes b) { return __builtin_shufflevector(a, b, 0, 1, 4, 5); }
ALWAYS_INLINE Lanes high_pairs(Lanes a, Lanes b) { return __builtin_shufflevector(a, b, 2, 3, 6, 7); }
#endif

/// Squares of four rows and four fours, one in each sixteen bytes, turned over.
ALWAYS_INLINE void turn(const Lanes (&rows)[4], Lanes* fours) {
    const Lanes ab = low(rows[0], rows[1]), cd = low(rows[2], rows[3]);
    const Lanes ab_high = high(rows[0], rows[1]), cd_high = high(rows[2], rows[3]);
    fours[0] = low_pairs(ab, cd);
    fours[1] = high_pairs(ab, cd);
    fours[2] = low_pairs(ab_high, cd_high);
    fours[3] = high_pairs(ab_high, cd_high);
}

/// Vector q of out: the four bytes q of each row's 32.
template <typename Rows> ALWAYS_INLINE void side_by_side(const Rows& rows, Wide* out) {
#if defined(__AVX512F__)
    const auto begins = [](Lanes a, Lanes b) { return _mm512_shuffle_i64x2(a, b, 0b10001000); };
    const auto ends = [](Lanes a, Lanes b) { return _mm512_shuffle_i64x2(a, b, 0b11011101); };
    const auto of = [&](int half, int r) { return reinterpret_cast<Lanes>(rows(8 * half + r, 8 * half + r + 4)); };
#elif defined(__AVX2__)
    const auto begins = [](Lanes a, Lanes b) { return _mm256_permute2x128_si256(a, b, 0x20); };
    const auto ends = [](Lanes a, Lanes b) { return _mm256_permute2x128_si256(a, b, 0x31); };
    const auto of = [&](int half, int r) { return reinterpret_cast<Lanes>(rows(4 * half + r)); };
#else
    const auto begins = [](Lanes a, Lanes) { return a; };
    const auto ends = [](Lanes, Lanes b) { return b; };
    const auto of = [&](int half, int r) { return reinterpret_cast<Lanes>(half_of(rows(r), half == 1)); };
#endif
    Lanes turned[2][4];
    for (int half = 0; half < 2; ++half) {
        turn({of(half, 0), of(half, 1), of(half, 2), of(half, 3)}, turned[half]);
    }
    for (int q = 0; q < 4; ++q) {
        out[q] = reinterpret_cast<Wide>(begins(turned[0][q], turned[1][q]));
        out[4 + q] = reinterpret_cast<Wide>(ends(turned[0][q], turned[1][q]));
    }
}

/// The same of numbers of four bits, where each row's sixteen bytes lie: taken apart when they are side by side.
template <typename Row>
ALWAYS_INLINE void fours_side_by_side(const typename Row::Block* const* rows, int64_t i, int p, Wide* out) {
#if defined(__AVX2__)
    typedef __m128i Sixteen;
#else
    typedef Lanes Sixteen;
#endif
    const auto of = [&](int r) {
        return reinterpret_cast<Sixteen>(*static_cast<const BytesAt*>(static_cast<const void*>(Row::fours(rows[r][i], p))));
    };
    const auto each_fourth = [&](int r) {
#if defined(__AVX512F__)
        const __m512i two = _mm512_inserti32x4(_mm512_castsi128_si512(of(r)), of(r + 4), 1);
        return _mm512_inserti32x4(_mm512_inserti32x4(two, of(r + 8), 2), of(r + 12), 3);
#elif defined(__AVX2__)
        return _mm256_inserti128_si256(_mm256_castsi128_si256(of(r)), of(r + 4), 1);
#else
        return of(r);
#endif
    };
    Lanes turned[4];
    turn({each_fourth(0), each_fourth(1), each_fourth(2), each_fourth(3)}, turned);
    for (int q = 0; q < 4; ++q) {
        const auto both = reinterpret_cast<Numbers>(turned[q]);
        out[q] = reinterpret_cast<Wide>(Row::numbers_of(both & 15) - static_cast<uint8_t>(Row::less));
        out[4 + q] = reinterpret_cast<Wide>(Row::numbers_of(both >> 4) - static_cast<uint8_t>(Row::less));
    }
}

/// Into the order that squares of bytes are multiplied in: eight neighbours of two rows, then of the other two.
ALWAYS_INLINE void in_squares([[maybe_unused]] Wide* fours) {
#if defined(SCHEDSCOPE_NEON) && defined(__ARM_FEATURE_MATMUL_INT8)
    for (int q = 0; q < fours_in_piece; q += 2) {
        const auto first = reinterpret_cast<Ints>(fours[q]), second = reinterpret_cast<Ints>(fours[q + 1]);
        fours[q] = reinterpret_cast<Wide>(vzip1q_s32(first, second));
        fours[q + 1] = reinterpret_cast<Wide>(vzip2q_s32(first, second));
    }
#endif
}

/// Of block i of each row, a row a lane.
template <typename Row>
ALWAYS_INLINE void scales_of_rows(const typename Row::Block* const* rows, int64_t i, Floats* scales, Floats* offsets) {
    if constexpr (Row::pieces == 1) {
        Row::row_scales(rows, i, scales, offsets);
    } else {
        constexpr int n = Row::pieces * piece / Row::scaled;
        float scale[width][16], offset[width][16];
        for (int r = 0; r < width; ++r) {
            Row::scales(rows[r][i], scale[r], offset[r]);
        }
        for (int from = 0; from < n; from += fours_in_piece) {
            side_by_side(ScalesOfRows{scale, from}, reinterpret_cast<Wide*>(scales + from));
            if constexpr (Row::offsets) {
                side_by_side(ScalesOfRows{offset, from}, reinterpret_cast<Wide*>(offsets + from));
            }
        }
    }
}

/// `fours`: numbers with signs, in_squares.
template <typename Panel> ALWAYS_INLINE void store_stretch(const Wide* fours, Floats scale, Floats offset, std::byte* to) {
    Ints sum{};
    UNROLL(8)
    for (int q = 0; q < Panel::vectors; ++q) {
        *reinterpret_cast<WideAt*>(to + q * bytes) = fours[q];
        sum = lift == 0 ? sum : add_fours(sum, Wide{} + static_cast<int8_t>(-lift), fours[q]);
    }
    if constexpr (lift != 0) {
        *reinterpret_cast<IntsAt*>(to + Panel::vectors * bytes) = -sum;
    }
    store(reinterpret_cast<float*>(to + Panel::scale * bytes), scale);
    if constexpr (Panel::offsets) {
        store(reinterpret_cast<float*>(to + (Panel::scale + 1) * bytes), offset);
    }
}

template <typename Row> void pack(const std::byte* rows, size_t stride, int64_t n_rows, int64_t n, std::byte* panel) {
    using Panel = PanelOf<Row>;
    using Block = typename Row::Block;
    constexpr int block = Row::pieces * piece, parts = piece / Row::scaled;
    const Block* of_row[width];
    for (int64_t r = 0; r < width; ++r) { // the last one again for those that are not there: they are left out
        of_row[r] = reinterpret_cast<const Block*>(rows + static_cast<size_t>(r < n_rows ? r : n_rows - 1) * stride);
    }
    for (int64_t i = 0; i < n / block; ++i) {
        Floats scales[16], offsets[16];
        scales_of_rows<Row>(of_row, i, scales, offsets);
        UNROLL(8)
        for (int p = 0; p < Row::pieces; ++p) {
            Wide fours[fours_in_piece];
            if constexpr (HasFoursAlone<Row>) {
                fours_side_by_side<Row>(of_row, i, p, fours);
            } else {
                side_by_side(PiecesOfRows<Row>{of_row, i, p}, fours);
            }
            in_squares(fours);
            UNROLL(2)
            for (int part = 0; part < parts; ++part, panel += Panel::stretch * bytes) {
                const int g = p * parts + part;
                store_stretch<Panel>(fours + part * Panel::vectors, scales[g], Row::offsets ? offsets[g] : Floats{}, panel);
            }
        }
    }
}

/// A stretch of M panels, `apart` bytes apart, times N columns from number `at` on.
#if defined(SCHEDSCOPE_NEON) && defined(__ARM_FEATURE_MATMUL_INT8)
template <typename Panel, int M, int N>
ALWAYS_INLINE void multiply_stretch(const std::byte* panel, int64_t apart, const int8_t* const (&codes)[N], int64_t at,
                                    Ints (&sum)[M][N]) {
    constexpr int pairs = (N + 1) / 2;           // of columns; the last of an odd number is one with itself
    int32x4_t squares[M][pairs][width / 2] = {}; // two rows × two columns each
    UNROLL(4)
    for (int q = 0; q < Panel::vectors; q += 2) {
        Wide w[M][2];
        for (int m = 0; m < M; ++m) {
            for (int half = 0; half < 2; ++half) {
                w[m][half] = wide_at(panel + m * apart + (q + half) * bytes);
            }
        }
        for (int p = 0; p < pairs; ++p) {
            const auto eight = [&](int j) { return vld1_s8(codes[j < N ? j : N - 1] + at + 4 * q); };
            const int8x16_t two = vcombine_s8(eight(2 * p), eight(2 * p + 1));
            for (int m = 0; m < M; ++m) {
                for (int half = 0; half < 2; ++half) {
                    squares[m][p][half] = vmmlaq_s32(squares[m][p][half], w[m][half], two);
                }
            }
        }
    }
    for (int m = 0; m < M; ++m) {
        for (int j = 0; j < N; ++j) {
            const auto& of_pair = squares[m][j / 2];
            sum[m][j] = j % 2 == 0 ? vuzp1q_s32(of_pair[0], of_pair[1]) : vuzp2q_s32(of_pair[0], of_pair[1]);
        }
    }
}
#else
template <typename Panel, int M, int N>
ALWAYS_INLINE void multiply_stretch(const std::byte* panel, int64_t apart, const int8_t* const (&codes)[N], int64_t at,
                                    Ints (&sum)[M][N]) {
    for (int m = 0; m < M; ++m) {
        Ints begin{};
        if constexpr (lift != 0) {
            begin = ints_at(panel + m * apart + Panel::vectors * bytes);
        }
        for (int j = 0; j < N; ++j) {
            sum[m][j] = begin;
        }
    }
    UNROLL(8)
    for (int q = 0; q < Panel::vectors; ++q) {
        Wide w[M];
        for (int m = 0; m < M; ++m) {
            w[m] = wide_at(panel + m * apart + q * bytes);
        }
        for (int j = 0; j < N; ++j) {
            const Wide four = four_in_all(codes[j] + at + 4 * q);
            for (int m = 0; m < M; ++m) {
                // Of the two that have signs the first may be −128, as no column is.
                sum[m][j] = unsigned_first ? add_fours(sum[m][j], four, w[m]) : add_fours(sum[m][j], w[m], four);
            }
        }
    }
}
#endif

/// What is read next, of which some is fetched with each stretch: a processor that multiplies has nothing to read.
struct Ahead {
    const std::byte* at;
    int64_t n_bytes;
    ALWAYS_INLINE void fetch_some() {
        constexpr int64_t some = 512;
        if (n_bytes > 0) {
            fetch(at, some);
            at += some;
            n_bytes -= some;
        }
    }
};

/// M panels of rows times N columns.
template <typename Panel, int M, int N>
void multiply_tile(const std::byte* panel, int64_t n, const Int8Columns& x, int64_t first, float* out, int64_t out_stride,
                   int64_t n_rows, Ahead& ahead) {
    const int64_t apart = panel_bytes<Panel>(n);
    const int8_t* codes[N];
    for (int j = 0; j < N; ++j) {
        codes[j] = x.codes + (first + j) * x.stride;
    }
    const float* scales = x.scales + first * x.group_stride;
    const float* of_sums = x.sums + first * x.group_stride;
    constexpr int groups = Panel::scaled / group;
    Floats acc[M][N] = {};
    for (int64_t s = 0; s < n / Panel::scaled; ++s) {
        ahead.fetch_some();
        Ints sum[M][N];
        multiply_stretch<Panel, M, N>(panel, apart, codes, s * Panel::scaled, sum);
        for (int m = 0; m < M; ++m) {
            const auto floats_at = [&](int vector) __attribute__((always_inline)) {
                return load(reinterpret_cast<const float*>(panel + m * apart + vector * bytes));
            };
            const Floats scale = floats_at(Panel::scale);
            for (int j = 0; j < N; ++j) {
                const float* const at = scales + j * x.group_stride + s * groups;
                acc[m][j] = multiply_add(to_floats(sum[m][j]), scale * all(*at), acc[m][j]);
            }
            if constexpr (Panel::offsets) {
                const Floats offset = floats_at(Panel::scale + 1);
                for (int j = 0; j < N; ++j) {
                    const float* const at = of_sums + j * x.group_stride + s * groups;
                    acc[m][j] = multiply_add(offset, all(groups == 2 ? at[0] + at[1] : at[0]), acc[m][j]);
                }
            }
        }
        panel += Panel::stretch * bytes;
    }
    for (int m = 0; m < M; ++m) {
        const int64_t rows = n_rows - m * width;
        for (int j = 0; j < N; ++j) {
            float* const to = out + j * out_stride + m * width;
            if (rows >= width) {
                store(to, acc[m][j]);
            } else {
                for (int64_t i = 0; i < rows; ++i) {
                    to[i] = acc[m][j][i];
                }
            }
        }
    }
}

constexpr int panels_at_once = registers == 32 ? 2 : 1, columns_at_once = width == 16 ? 6 : 4;

template <typename Panel, int M>
void multiply_panel(const std::byte* panel, int64_t n, const Int8Columns& x, int64_t n_columns, float* out, int64_t out_stride,
                    int64_t n_rows, Ahead& ahead) {
    int64_t j = 0;
    for (; j + columns_at_once <= n_columns; j += columns_at_once) {
        multiply_tile<Panel, M, columns_at_once>(panel, n, x, j, out + j * out_stride, out_stride, n_rows, ahead);
    }
    if constexpr (columns_at_once > 4) {
        if (j + 4 <= n_columns) {
            multiply_tile<Panel, M, 4>(panel, n, x, j, out + j * out_stride, out_stride, n_rows, ahead);
            j += 4;
        }
    }
    for (; j + 2 <= n_columns; j += 2) {
        multiply_tile<Panel, M, 2>(panel, n, x, j, out + j * out_stride, out_stride, n_rows, ahead);
    }
    if (j < n_columns) {
        multiply_tile<Panel, M, 1>(panel, n, x, j, out + j * out_stride, out_stride, n_rows, ahead);
    }
}

template <typename Panel>
void multiply(const std::byte* panels, int64_t n_rows, int64_t n, const Int8Columns& x, int64_t n_columns, float* out,
              int64_t out_stride, const std::byte* next, int64_t next_bytes) {
    Ahead ahead{next, next_bytes};
    int64_t i = 0;
    for (; i + panels_at_once * width <= n_rows + width - 1; i += panels_at_once * width) {
        multiply_panel<Panel, panels_at_once>(panels + i / width * panel_bytes<Panel>(n), n, x, n_columns, out + i, out_stride,
                                              n_rows - i, ahead);
    }
    for (; i < n_rows; i += width) {
        multiply_panel<Panel, 1>(panels + i / width * panel_bytes<Panel>(n), n, x, n_columns, out + i, out_stride, n_rows - i,
                                 ahead);
    }
}

} // namespace int8

} // namespace

} // namespace schedscope
