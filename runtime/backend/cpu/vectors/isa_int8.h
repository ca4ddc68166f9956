// Products of quantised rows with columns of whole numbers. For the files that are compiled once for each instruction set.
#pragma once

#include "runtime/backend/cpu/vectors/isa_blocks.h"
#include "runtime/backend/cpu/vectors/vector_ops.h"
#include "runtime/numbers.h"

namespace schedscope {

namespace {

namespace int8 {

static_assert(group == Int8Columns::group);
constexpr int unit_groups = Int8Columns::unit / group; ///< whose scales are looked up together
constexpr int64_t bytes = 4 * width;                   ///< of a vector: four neighbours in each lane

typedef int8_t Wide __attribute__((vector_size(bytes)));
typedef int8_t WideAt __attribute__((vector_size(bytes), aligned(1), may_alias));
typedef Ints IntsAt __attribute__((aligned(1), may_alias));

ALWAYS_INLINE Wide wide_at(const void* p) { return *static_cast<const WideAt*>(p); }
ALWAYS_INLINE Ints ints_at(const void* p) { return *static_cast<const IntsAt*>(p); }
ALWAYS_INLINE Floats to_floats(Ints v) { return __builtin_convertvector(v, Floats); }
/// a b + c, rounded once where there is an instruction for it: whether a compiler takes that by itself depends on what stands
/// around, but a row's product must not depend on the tile that it is in.
ALWAYS_INLINE Floats multiply_add(Floats a, Floats b, Floats c) {
#if defined(__AVX512F__)
    return reinterpret_cast<Floats>(
        _mm512_fmadd_ps(reinterpret_cast<__m512>(a), reinterpret_cast<__m512>(b), reinterpret_cast<__m512>(c)));
#elif defined(__AVX2__)
    return reinterpret_cast<Floats>(
        _mm256_fmadd_ps(reinterpret_cast<__m256>(a), reinterpret_cast<__m256>(b), reinterpret_cast<__m256>(c)));
#elif defined(SCHEDSCOPE_NEON)
    return vfmaq_f32(c, a, b);
#else
    return a * b + c;
#endif
}
/// The four bytes at p in each lane.
ALWAYS_INLINE Wide four_in_all(const int8_t* p) {
    int32_t four = 0;
    __builtin_memcpy(&four, p, sizeof four);
    return reinterpret_cast<Wide>(Ints{} + four);
}

// The instruction for products of bytes takes unsigned ones with signed ones. Where it is, numbers of rows are multiplied as they
// are stored, columns for panels are lifted by 128, and what that adds is taken off afterwards.
#if defined(__AVX512VNNI__) || defined(__AVXVNNI__)
constexpr bool unsigned_first = true;
/// sum + Σ a b of the four of each lane; a without signs.
ALWAYS_INLINE Ints add_fours(Ints sum, Wide a, Wide b) {
#if defined(__AVX512VNNI__)
    return reinterpret_cast<Ints>(
        _mm512_dpbusd_epi32(reinterpret_cast<__m512i>(sum), reinterpret_cast<__m512i>(a), reinterpret_cast<__m512i>(b)));
#else
    return reinterpret_cast<Ints>(
        _mm256_dpbusd_avx_epi32(reinterpret_cast<__m256i>(sum), reinterpret_cast<__m256i>(a), reinterpret_cast<__m256i>(b)));
#endif
}
#else
constexpr bool unsigned_first = false;
/// The same with signs; b is not −128.
ALWAYS_INLINE Ints add_fours(Ints sum, Wide a, Wide b) {
#if defined(__AVX512F__)
    const __m512i x = reinterpret_cast<__m512i>(a), y = reinterpret_cast<__m512i>(b);
    const __m512i size = _mm512_abs_epi8(x);
    const __m512i turned = _mm512_mask_sub_epi8(y, _mm512_movepi8_mask(x), _mm512_setzero_si512(), y);
    return sum + reinterpret_cast<Ints>(_mm512_madd_epi16(_mm512_maddubs_epi16(size, turned), _mm512_set1_epi16(1)));
#elif defined(__AVX2__)
    const __m256i x = reinterpret_cast<__m256i>(a), y = reinterpret_cast<__m256i>(b);
    const __m256i pairs = _mm256_maddubs_epi16(_mm256_abs_epi8(x), _mm256_sign_epi8(y, x));
    return sum + reinterpret_cast<Ints>(_mm256_madd_epi16(pairs, _mm256_set1_epi16(1)));
#elif defined(SCHEDSCOPE_NEON) && defined(__ARM_FEATURE_DOTPROD)
    return vdotq_s32(sum, a, b);
#elif defined(SCHEDSCOPE_NEON)
    const int16x8_t first = vmull_s8(vget_low_s8(a), vget_low_s8(b)), second = vmull_high_s8(a, b);
    return vpadalq_s16(sum, vpaddq_s16(first, second));
#else
    // Two products of bytes fit into sixteen bits as long as no two are −128.
    typedef int16_t Shorts __attribute__((vector_size(bytes)));
    const auto even = [](Wide v) { return (reinterpret_cast<Shorts>(v) << 8) >> 8; };
    const auto odd = [](Wide v) { return reinterpret_cast<Shorts>(v) >> 8; };
    const auto pairs = reinterpret_cast<Ints>(even(a) * even(b) + odd(a) * odd(b));
    return sum + ((pairs << 16) >> 16) + (pairs >> 16);
#endif
}
#endif

constexpr int groups_in_vector = bytes / group; ///< 4, 2, 1
constexpr int vectors_in_unit = unit_groups / groups_in_vector;

/// Of a row the 256 elements from one on: a super block, or eight small ones, of which the last may be missing.
template <typename Row> struct Unit {
    static constexpr int blocks_in_unit = Int8Columns::unit / piece / Row::pieces;
    const typename Row::Block* blocks;
    int n_blocks;

    ALWAYS_INLINE void scales(float* scale, float* offset) const {
        if constexpr (blocks_in_unit == 1) {
            Row::scales(*blocks, scale, offset);
        } else if (n_blocks == blocks_in_unit) {
            Row::eight_scales(blocks, scale, offset);
        } else {
            for (int i = 0; i < blocks_in_unit; ++i) {
                if (i < n_blocks) {
                    Row::scales(blocks[i], scale + i, offset + i);
                } else {
                    scale[i] = offset[i] = 0;
                }
            }
        }
    }
    ALWAYS_INLINE Piece numbers(int p) const {
        return p / Row::pieces < n_blocks ? numbers_of<Row>(blocks[p / Row::pieces], p % Row::pieces) : Piece{};
    }
    /// Those of vector v.
    ALWAYS_INLINE Wide vector(int v) const {
        if constexpr (bytes == piece) {
            return reinterpret_cast<Wide>(numbers(v));
        } else if constexpr (bytes < piece) {
            const Piece both = numbers(v / 2);
            Wide half; // clang wants equal sizes of a cast also where this is left out
            __builtin_memcpy(&half, reinterpret_cast<const uint8_t*>(&both) + v % 2 * bytes, sizeof half);
            return half;
        } else {
#if defined(__AVX512F__)
            const auto of_block = [&](int p) -> const typename Row::Block& { return blocks[p / Row::pieces]; };
            if constexpr (HasFours<Row> && !HasFifths<Row>) {
                if (2 * v + 1 < n_blocks * Row::pieces) {
                    constexpr int n = Row::pieces;
                    return reinterpret_cast<Wide>(Row::numbers_of(
                        two_fours_at(Row::fours(of_block(2 * v), 2 * v % n), Row::fours(of_block(2 * v + 1), (2 * v + 1) % n))));
                }
            }
            return reinterpret_cast<Wide>(joined(numbers(2 * v), numbers(2 * v + 1)));
#endif
        }
    }
};

/// The lanes of v that `lanes` numbers.
ALWAYS_INLINE Floats chosen(Floats v, Ints lanes) {
#if defined(__AVX512F__)
    return reinterpret_cast<Floats>(_mm512_permutexvar_ps(reinterpret_cast<__m512i>(lanes), reinterpret_cast<__m512>(v)));
#elif defined(__AVX2__)
    return reinterpret_cast<Floats>(_mm256_permutevar8x32_ps(reinterpret_cast<__m256>(v), reinterpret_cast<__m256i>(lanes)));
#else
    return Floats{v[lanes[0]], v[lanes[1]], v[lanes[2]], v[lanes[3]]};
#endif
}

/// A unit's scales or offsets, `scaled` elements each: those of the groups of part p.
template <int scaled> ALWAYS_INLINE Floats of_groups(const float* each, int p) {
    if constexpr (scaled == group) {
        return load(each + p * width);
    } else {
        Ints lanes{};
        for (int i = 0; i < width; ++i) {
            lanes[i] = i / 2;
        }
#if defined(__AVX512F__)
        static_cast<void>(p);
        return chosen(reinterpret_cast<Floats>(_mm512_castps256_ps512(_mm256_loadu_ps(each))), lanes);
#else
        return chosen(load(each + p * width / 2), lanes);
#endif
    }
}

/// The numbers of groups in a vector's lanes, of all groups of a unit: those of vector v.
ALWAYS_INLINE Floats spread(const Floats* all_groups, int v) {
    const int first = v * groups_in_vector;
    Ints lanes{};
    for (int i = 0; i < width; ++i) {
        lanes[i] = first % static_cast<int>(width) + i / 4;
    }
    return chosen(all_groups[first / width], lanes);
}

constexpr int chains = 3; ///< of additions that need not wait for each other

/// The same unit of R rows, of each against N columns.
template <typename Row, int R, int N>
ALWAYS_INLINE void add_unit(const Unit<Row> (&units)[R], const Int8Columns& x, int64_t at, Floats (*acc)[N][chains]) {
    constexpr int parts = unit_groups / width, taken_off = unsigned_first ? Row::less : 0;
    Floats scales[R][N][parts];
    UNROLL(4)
    for (int r = 0; r < R; ++r) {
        float scale[unit_groups], offset[unit_groups];
        units[r].scales(scale, offset);
        UNROLL(4)
        for (int p = 0; p < parts; ++p) {
            const Floats s = of_groups<Row::scaled>(scale, p);
            Floats other = s * -static_cast<float>(taken_off);
            if constexpr (Row::offsets) {
                other += of_groups<Row::scaled>(offset, p);
            }
            UNROLL(4)
            for (int j = 0; j < N; ++j) {
                const int64_t first = j * x.group_stride + at / group + p * width;
                scales[r][j][p] = s * load(x.scales + first);
                if constexpr (Row::offsets || taken_off != 0) {
                    acc[r][j][chains - 1] = multiply_add(other, load(x.sums + first), acc[r][j][chains - 1]);
                }
            }
        }
    }
    UNROLL(16)
    for (int v = 0; v < vectors_in_unit; ++v) {
        UNROLL(4)
        for (int r = 0; r < R; ++r) {
            const Wide w = unsigned_first ? units[r].vector(v) : units[r].vector(v) - static_cast<int8_t>(Row::less);
            UNROLL(4)
            for (int j = 0; j < N; ++j) {
                const Ints sum = add_fours(Ints{}, w, wide_at(x.codes + j * x.stride + at + v * bytes));
                Floats& chain = acc[r][j][v % (chains - 1)];
                chain = multiply_add(to_floats(sum), spread(scales[r][j], v), chain);
            }
        }
    }
}

/// R rows × N columns, at most four products.
template <typename Row, int R, int N>
void dot_tile(const std::byte* rows, size_t stride, const Int8Columns& x, int64_t n, float* out, int64_t out_stride) {
    constexpr int in_unit = Unit<Row>::blocks_in_unit, block = Row::pieces * piece;
    const int64_t n_blocks = n / block;
    Floats acc[R][N][chains] = {};
    const auto add = [&](int64_t i, int n_there) __attribute__((always_inline)) {
        Unit<Row> units[R];
        UNROLL(4)
        for (int r = 0; r < R; ++r) {
            units[r] = {reinterpret_cast<const typename Row::Block*>(rows + static_cast<size_t>(r) * stride) + i, n_there};
        }
        add_unit<Row, R, N>(units, x, i * block, acc);
    };
    int64_t i = 0;
    for (; i + in_unit <= n_blocks; i += in_unit) {
        add(i, in_unit);
    }
    if (i < n_blocks) {
        add(i, static_cast<int>(n_blocks - i));
    }
    Floats sums[4] = {};
    UNROLL(4)
    for (int r = 0; r < R; ++r) {
        UNROLL(4)
        for (int j = 0; j < N; ++j) {
            sums[r * N + j] = acc[r][j][0] + acc[r][j][1] + acc[r][j][2];
        }
    }
    float results[4];
    totals(sums[0], sums[1], sums[2], sums[3], results); // also of one: a row's product does not depend on its tile
    UNROLL(4)
    for (int r = 0; r < R; ++r) {
        UNROLL(4)
        for (int j = 0; j < N; ++j) {
            out[j * out_stride + r] = results[r * N + j];
        }
    }
}

/// Rows that are multiplied at once, so that none waits for the sums of the one before: as many as registers hold.
constexpr int rows_in_tile(int n_columns) {
    return bytes == 64 && n_columns <= 2 ? 4 / n_columns : (bytes == 32 || registers == 32) && n_columns == 1 ? 2 : 1;
}

template <typename Row>
void dot(const std::byte* rows, size_t stride, int64_t n_rows, const Int8Columns& x, int n_columns, int64_t n, float* out,
         int64_t out_stride) {
    with_count(n_columns, [&](auto columns) {
        constexpr int N = decltype(columns)::value, R = rows_in_tile(N);
        int64_t r = 0;
        for (; r + R <= n_rows; r += R) {
            fetch(rows + static_cast<size_t>(r) * stride + fetched_ahead, R * static_cast<int64_t>(stride));
            dot_tile<Row, R, N>(rows + static_cast<size_t>(r) * stride, stride, x, n, out + r, out_stride);
        }
        for (; r < n_rows; ++r) {
            dot_tile<Row, 1, N>(rows + static_cast<size_t>(r) * stride, stride, x, n, out + r, out_stride);
        }
    });
}

constexpr int lift = unsigned_first ? 128 : 0; ///< of columns for panels

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

typedef uint8_t Numbers __attribute__((vector_size(bytes)));

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

template <typename Row> void pack(const std::byte* rows, size_t stride, int64_t n_rows, int64_t n, std::byte* panel) {
    using Panel = PanelOf<Row>;
    using Block = typename Row::Block;
    constexpr int block = Row::pieces * piece, parts = piece / Row::scaled, in_part = fours_in_piece / parts;
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
            if constexpr (HasFours<Row> && !HasFifths<Row>) {
                fours_side_by_side<Row>(of_row, i, p, fours);
            } else {
                side_by_side(PiecesOfRows<Row>{of_row, i, p}, fours);
            }
            in_squares(fours);
            UNROLL(2)
            for (int part = 0; part < parts; ++part, panel += Panel::stretch * bytes) {
                Ints sum{};
                UNROLL(8)
                for (int q = 0; q < in_part; ++q) {
                    const Wide w = fours[part * in_part + q];
                    *reinterpret_cast<WideAt*>(panel + q * bytes) = w;
                    sum = lift == 0 ? sum : add_fours(sum, Wide{} + static_cast<int8_t>(-lift), w);
                }
                if constexpr (lift != 0) {
                    *reinterpret_cast<IntsAt*>(panel + Panel::vectors * bytes) = -sum;
                }
                store(reinterpret_cast<float*>(panel + Panel::scale * bytes), scales[p * parts + part]);
                if constexpr (Row::offsets) {
                    store(reinterpret_cast<float*>(panel + (Panel::scale + 1) * bytes), offsets[p * parts + part]);
                }
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

constexpr int64_t one_scale = 32; ///< elements of a column

/// The largest of a vector's.
ALWAYS_INLINE int32_t largest_of(Ints v) {
#if defined(__AVX512F__)
    return _mm512_reduce_max_epi32(reinterpret_cast<__m512i>(v));
#elif defined(__AVX2__)
    const auto all = reinterpret_cast<__m256i>(v);
    const __m128i four = _mm_max_epi32(_mm256_castsi256_si128(all), _mm256_extracti128_si256(all, 1));
    const __m128i two = _mm_max_epi32(four, _mm_shuffle_epi32(four, 0b01001110));
    return _mm_cvtsi128_si32(_mm_max_epi32(two, _mm_shuffle_epi32(two, 0b10110001)));
#elif defined(SCHEDSCOPE_NEON)
    return vmaxvq_s32(v);
#else
    const auto more = [](int32_t a, int32_t b) { return a > b ? a : b; };
    return more(more(v[0], v[1]), more(v[2], v[3]));
#endif
}

inline void quantise(const float* x, int64_t n, bool lifts, int8_t* codes, float* scales, float* sums) {
    typedef int8_t Narrow __attribute__((vector_size(width)));
    typedef Narrow NarrowAt __attribute__((aligned(1), may_alias));
    constexpr float to_whole = 12582912.0F, most = 127.0F; // adding 1.5 × 2^23 leaves the whole number in the low bits
    constexpr int parts = one_scale / width;
    const int32_t added = lifts ? lift : 0;
    for (int64_t i = 0; i < n; i += one_scale, codes += one_scale) {
        Floats v[parts];
        Ints sizes{}; // bits without the sign are in the order of what they stand for, infinity and what is no number behind all
        for (int p = 0; p < parts; ++p) {
            v[p] = load(x + i + p * width);
            const Ints size = reinterpret_cast<Ints>(v[p]) & 0x7FFFFFFF;
            sizes = size > sizes ? size : sizes;
        }
        constexpr int32_t infinite = 0x7F800000;
        const int32_t bits = largest_of(sizes);
        const float largest = __builtin_bit_cast(float, bits);
        const float scale = bits >= infinite ? __builtin_nanf("") : largest / most; // nor are the products numbers
        constexpr float least = 1e-30F; // what is smaller, and one through it infinite, counts as nothing
        const float inverse = largest > least && bits < infinite ? most / largest : 0.0F;
        for (int half = 0; half < 2; ++half) {
            Ints sum{};
            for (int p = half * parts / 2; p < (half + 1) * parts / 2; ++p) {
                const Ints whole = reinterpret_cast<Ints>(v[p] * inverse + to_whole) - __builtin_bit_cast(int32_t, to_whole);
                sum += whole;
                *reinterpret_cast<NarrowAt*>(codes + p * width) = __builtin_convertvector(whole + added, Narrow);
            }
            *scales++ = scale;
            *sums++ = scale * total(to_floats(sum));
        }
    }
}

} // namespace int8

} // namespace

} // namespace schedscope
