// Columns of whole numbers, and products of quantised rows, as they lie, with few of them. For the files that are compiled once
// for each instruction set.
#pragma once

#include "runtime/backend/cpu/vectors/isa_blocks.h"
#include "runtime/backend/cpu/vectors/vector_ops.h"

namespace schedscope {

namespace {

namespace int8 {

static_assert(group == Int8Columns::group);
static_assert(widest_vector % width == 0);
constexpr int unit_groups = Int8Columns::unit / group; ///< whose scales are looked up together
constexpr int64_t bytes = 4 * width;                   ///< of a vector: four neighbours in each lane

typedef int8_t Wide __attribute__((vector_size(bytes)));
typedef int8_t WideAt __attribute__((vector_size(bytes), aligned(1), may_alias));
typedef Ints IntsAt __attribute__((aligned(1), may_alias));
typedef uint8_t Numbers __attribute__((vector_size(bytes)));

ALWAYS_INLINE Wide wide_at(const void* p) { return *static_cast<const WideAt*>(p); }
ALWAYS_INLINE Ints ints_at(const void* p) { return *static_cast<const IntsAt*>(p); }
ALWAYS_INLINE Floats to_floats(Ints v) { return __builtin_convertvector(v, Floats); }
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
            if constexpr (HasFoursAlone<Row>) {
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
        constexpr auto of_block = static_cast<int64_t>(sizeof(typename Row::Block));
        const int64_t ahead = fetched_ahead_of(R, static_cast<int64_t>(stride), (n_blocks - i) * of_block);
        Unit<Row> units[R];
        UNROLL(4)
        for (int r = 0; r < R; ++r) {
            const std::byte* const at = rows + static_cast<size_t>(r) * stride + i * of_block;
            fetch<N>(at + ahead, in_unit * of_block);
            units[r] = {reinterpret_cast<const typename Row::Block*>(at), n_there};
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
            dot_tile<Row, R, N>(rows + static_cast<size_t>(r) * stride, stride, x, n, out + r, out_stride);
        }
        for (; r < n_rows; ++r) {
            dot_tile<Row, 1, N>(rows + static_cast<size_t>(r) * stride, stride, x, n, out + r, out_stride);
        }
    });
}

constexpr int lift = unsigned_first ? 128 : 0; ///< of columns for panels

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

inline void quantise(const float* x, int64_t n, bool lifts, int8_t* codes, float* scales, float* sums, int32_t* totals) {
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
        const bool has_none = bits >= infinite; // nor are the products numbers
        const float scale = has_none ? __builtin_nanf("") : largest / most;
        for (int p = 0; has_none && p < parts; ++p) {
            v[p] = Floats{};
        }
        constexpr float least = 1e-30F; // what is smaller, and one through it infinite, counts as nothing
        const float inverse = largest > least && !has_none ? most / largest : 0.0F;
        for (int half = 0; half < 2; ++half) {
            Ints sum{};
            for (int p = half * parts / 2; p < (half + 1) * parts / 2; ++p) {
                const Ints whole = reinterpret_cast<Ints>(v[p] * inverse + to_whole) - __builtin_bit_cast(int32_t, to_whole);
                sum += whole;
                *reinterpret_cast<NarrowAt*>(codes + p * width) = __builtin_convertvector(whole + added, Narrow);
            }
            const float all = total(to_floats(sum));
            *scales++ = scale;
            *sums++ = scale * all;
            *totals++ = static_cast<int32_t>(all);
        }
    }
}

} // namespace int8

} // namespace

} // namespace schedscope
