// Quantised rows, taken apart 32 elements at a time: a piece. For the files that are compiled once for each instruction set.
#pragma once

#include "runtime/backend/cpu/vectors/isa_vectors.h"
#include "runtime/tensor/blocks.h"

namespace schedscope {

namespace {

typedef uint8_t Bytes __attribute__((vector_size(16)));
typedef uint8_t BytesAt __attribute__((vector_size(16), aligned(1), may_alias));
typedef uint8_t Piece __attribute__((vector_size(32)));
typedef uint8_t PieceAt __attribute__((vector_size(32), aligned(1), may_alias));

constexpr int piece = 32, group = 16; ///< elements

ALWAYS_INLINE Piece piece_at(const void* p) { return *static_cast<const PieceAt*>(p); }

ALWAYS_INLINE Piece joined(Bytes first, Bytes second) {
#if defined(__AVX2__)
    return __builtin_shufflevector(first, second, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21,
                                   22, 23, 24, 25, 26, 27, 28, 29, 30, 31);
#else // whose vectors have sixteen: a compiler would take each byte by itself
    Piece both;
    __builtin_memcpy(&both, &first, sizeof first);
    __builtin_memcpy(reinterpret_cast<uint8_t*>(&both) + sizeof first, &second, sizeof second);
    return both;
#endif
}
ALWAYS_INLINE Bytes half_of(Piece p, bool second) {
#if defined(__AVX2__)
    return second ? __builtin_shufflevector(p, p, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31)
                  : __builtin_shufflevector(p, p, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
#else
    Bytes half;
    __builtin_memcpy(&half, reinterpret_cast<const uint8_t*>(&p) + (second ? sizeof half : 0), sizeof half);
    return half;
#endif
}

/// Sixteen bytes, first their low four bits, then their high ones.
ALWAYS_INLINE Piece fours_at(const void* p) {
    const Bytes b = *static_cast<const BytesAt*>(p);
    const Bytes low = b & 15, high = b >> 4;
    return joined(low, high);
}
#if defined(__AVX512F__)
typedef uint8_t TwoPieces __attribute__((vector_size(64)));
ALWAYS_INLINE TwoPieces joined(Piece a, Piece b) {
    return reinterpret_cast<TwoPieces>(
        _mm512_inserti64x4(_mm512_castsi256_si512(reinterpret_cast<__m256i>(a)), reinterpret_cast<__m256i>(b), 1));
}
/// fours_at of both, at once.
ALWAYS_INLINE TwoPieces two_fours_at(const void* a, const void* b) {
    const __m256i both = _mm256_loadu2_m128i(static_cast<const __m128i*>(b), static_cast<const __m128i*>(a));
    const __m512i twice = _mm512_permutexvar_epi64(_mm512_set_epi64(3, 2, 3, 2, 1, 0, 1, 0), _mm512_castsi256_si512(both));
    const __m512i shifted = _mm512_srlv_epi64(twice, _mm512_set_epi64(4, 4, 0, 0, 4, 4, 0, 0));
    return reinterpret_cast<TwoPieces>(_mm512_and_si512(shifted, _mm512_set1_epi8(15)));
}
#endif
template <size_t n> struct Pairs { typedef uint16_t Of __attribute__((vector_size(n))); };
/// `count` bits of each byte, those from bit `from` on, as bits from `to` on. What a shift of two bytes at once, for which there
/// are instructions, carries from one into the other is masked off.
template <typename V> ALWAYS_INLINE V bits_of(V p, int from, int count, int to = 0) {
    const auto pairs = reinterpret_cast<typename Pairs<sizeof(V)>::Of>(p);
    const auto shifted = from > to ? pairs >> static_cast<uint16_t>(from - to) : pairs << static_cast<uint16_t>(to - from);
    return reinterpret_cast<V>(shifted) & static_cast<uint8_t>(((1 << count) - 1) << to);
}

#if defined(__AVX2__)
typedef Piece Spread;
#else
typedef Bytes Spread;
#endif
/// `value` in the bytes of one register whose bit is set.
ALWAYS_INLINE Spread spread_bits(const uint8_t* bits, uint8_t value) {
    typedef uint64_t Eights __attribute__((vector_size(sizeof(Spread))));
    constexpr uint64_t everywhere = 0x0101010101010101U, each_bit = 0x8040201008040201U;
    Eights spread{};
    for (unsigned i = 0; i < sizeof(Spread) / sizeof everywhere; ++i) {
        spread[i] = bits[i] * everywhere;
    }
    const auto set = reinterpret_cast<Spread>(spread) & reinterpret_cast<Spread>(Eights{} + each_bit);
    return reinterpret_cast<Spread>(set != 0) & value;
}
/// The same of a piece.
ALWAYS_INLINE Piece bits_to_bytes(const uint8_t* four_bytes, uint8_t value) {
#if defined(__AVX512BW__) && defined(__AVX512VL__)
    uint32_t bits = 0;
    __builtin_memcpy(&bits, four_bytes, sizeof bits);
    return reinterpret_cast<Piece>(_mm256_maskz_set1_epi8(bits, static_cast<char>(value)));
#elif defined(__AVX2__)
    return spread_bits(four_bytes, value);
#else
    return joined(spread_bits(four_bytes, value), spread_bits(four_bytes + 2, value));
#endif
}

/// Sixteen signed numbers as floats: those of vector i.
ALWAYS_INLINE Floats to_floats(Bytes numbers, int i) {
#if defined(__AVX512F__)
    static_cast<void>(i);
    return reinterpret_cast<Floats>(_mm512_cvtepi32_ps(_mm512_cvtepi8_epi32(reinterpret_cast<__m128i>(numbers))));
#elif defined(__AVX2__)
    const auto bits = reinterpret_cast<__m128i>(numbers);
    return reinterpret_cast<Floats>(_mm256_cvtepi32_ps(_mm256_cvtepi8_epi32(i == 0 ? bits : _mm_unpackhi_epi64(bits, bits))));
#elif defined(SCHEDSCOPE_NEON)
    const auto bits = reinterpret_cast<int8x16_t>(numbers);
    const int16x8_t half = i < 2 ? vmovl_s8(vget_low_s8(bits)) : vmovl_high_s8(bits);
    return vcvtq_f32_s32(i % 2 == 0 ? vmovl_s16(vget_low_s16(half)) : vmovl_high_s16(half));
#else
    typedef int8_t Some __attribute__((vector_size(width)));
    Some some;
    __builtin_memcpy(&some, reinterpret_cast<const uint8_t*>(&numbers) + i * width, sizeof some);
    const auto ints = __builtin_convertvector(some, Ints);
    return __builtin_convertvector(ints, Floats);
#endif
}
/// out[i] = numbers[i] × factor for sixteen.
ALWAYS_INLINE void store_scaled(Bytes numbers, float factor, float* out) {
    for (int i = 0; i < group / width; ++i) {
        store(out + i * width, to_floats(numbers, i) * factor);
    }
}
/// out[i] = the half that begins block i.
template <typename Block> ALWAYS_INLINE void eight_halves(const Block* blocks, uint16_t Block::*half, float* out) {
#if defined(__AVX2__)
    typedef uint16_t Halves __attribute__((vector_size(16)));
    const Halves bits = {blocks[0].*half, blocks[1].*half, blocks[2].*half, blocks[3].*half,
                         blocks[4].*half, blocks[5].*half, blocks[6].*half, blocks[7].*half};
    _mm256_storeu_ps(out, _mm256_cvtph_ps(reinterpret_cast<__m128i>(bits)));
#else
    for (int i = 0; i < 8; ++i) {
        out[i] = half_bits_to_float(blocks[i].*half);
    }
#endif
}

/// The half of block i of each row, a row a lane.
template <typename Block> ALWAYS_INLINE Floats halves_of_rows(const Block* const* rows, int64_t i, uint16_t Block::*half) {
#if defined(__AVX512F__)
    // Four bytes of each: numbers follow in the block.
    const auto at = reinterpret_cast<const char*>(&(rows[0][i].*half)) - reinterpret_cast<const char*>(rows[0]);
    const auto eight = [&](int r) {
        return _mm512_i64gather_epi32(_mm512_add_epi64(_mm512_loadu_si512(rows + r), _mm512_set1_epi64(at)), nullptr, 1);
    };
    const __m512i all = _mm512_inserti64x4(_mm512_castsi256_si512(eight(0)), eight(8), 1);
    return reinterpret_cast<Floats>(_mm512_cvtph_ps(_mm512_cvtepi32_epi16(all)));
#elif defined(__AVX2__)
    const auto bits = [&](int r) -> uint16_t { return rows[r][i].*half; };
    typedef uint16_t Halves __attribute__((vector_size(16)));
    const Halves all = {bits(0), bits(1), bits(2), bits(3), bits(4), bits(5), bits(6), bits(7)};
    return reinterpret_cast<Floats>(_mm256_cvtph_ps(reinterpret_cast<__m128i>(all)));
#else
    Floats out{};
    for (int r = 0; r < width; ++r) {
        out[r] = half_bits_to_float(rows[r][i].*half);
    }
    return out;
#endif
}

// One description per type: element i of piece p is (numbers(block, p)[i] − less) × scale + offset. `scales` says those once for
// each `scaled` elements; it has room for sixteen of each. `eight_scales`: of eight blocks; `row_scales`: of a block of each row.
// Types without `offsets` have none. `bytes(where)` are the 32 bytes that where(block) points to, of one block or of several.

/// What four bits stand for: themselves, or some steps lifted by `less`, which makes them numbers from 0 on. Such types say by
/// `fours` where those of a piece lie, and by `fifths` where the fifth bits do, if they have any. A type whose elements are
/// signed bytes says by `bytes` where these lie.
struct Plain {
    static constexpr int number_of(int four) { return four; }
    template <typename V> static ALWAYS_INLINE V numbers_of(V fours) { return fours; }
};
struct SixteenBytes {
    uint8_t of[16];
};
template <const std::array<int8_t, 16>& values, int lifted_by> struct Stepped {
    static constexpr int less = lifted_by;
    static constexpr SixteenBytes steps = [] {
        SixteenBytes lifted{};
        for (int i = 0; i < 16; ++i) {
            lifted.of[i] = static_cast<uint8_t>(values[i] + less);
        }
        return lifted;
    }();
    static constexpr int number_of(int four) { return steps.of[four]; }
    template <typename V> static ALWAYS_INLINE V numbers_of(V fours) {
#if defined(__AVX2__)
        const __m128i all = _mm_loadu_si128(reinterpret_cast<const __m128i*>(steps.of));
#if defined(__AVX512F__)
        if constexpr (sizeof(V) == sizeof(__m512i)) {
            return reinterpret_cast<V>(_mm512_shuffle_epi8(_mm512_broadcast_i32x4(all), reinterpret_cast<__m512i>(fours)));
        }
#endif
        if constexpr (sizeof(V) == sizeof(__m256i)) {
            return reinterpret_cast<V>(_mm256_shuffle_epi8(_mm256_broadcastsi128_si256(all), reinterpret_cast<__m256i>(fours)));
        }
#elif defined(SCHEDSCOPE_NEON)
        const uint8x16_t all = vld1q_u8(steps.of);
        if constexpr (sizeof(V) == sizeof all) {
            return vqtbl1q_u8(all, fours);
        } else {
            return joined(vqtbl1q_u8(all, half_of(fours, false)), vqtbl1q_u8(all, half_of(fours, true)));
        }
#else
        V out{};
        for (unsigned i = 0; i < sizeof(V); ++i) {
            out[i] = steps.of[fours[i]];
        }
        return out;
#endif
    }
};
using Uneven = Stepped<iq4_values, 128>;
using Fp4 = Stepped<fp4_values, 12>;

/// Blocks of 32 with one scale, and those with a least value too.
template <typename B> struct OneScale {
    using Block = B;
    static constexpr int pieces = 1, scaled = 32;
    static constexpr bool offsets = false;
    static ALWAYS_INLINE void scales(const Block& b, float* scale, float*) { scale[0] = half_bits_to_float(b.d); }
    static ALWAYS_INLINE void eight_scales(const Block* b, float* scale, float*) { eight_halves(b, &Block::d, scale); }
    static ALWAYS_INLINE void row_scales(const Block* const* rows, int64_t i, Floats* scale, Floats*) {
        *scale = halves_of_rows(rows, i, &Block::d);
    }
};
template <typename B> struct ScaleAndLeast {
    using Block = B;
    static constexpr int pieces = 1, scaled = 32;
    static constexpr bool offsets = true;
    static ALWAYS_INLINE void scales(const Block& b, float* scale, float* offset) {
        scale[0] = half_bits_to_float(b.d);
        offset[0] = half_bits_to_float(b.m);
    }
    static ALWAYS_INLINE void eight_scales(const Block* b, float* scale, float* offset) {
        eight_halves(b, &Block::d, scale);
        eight_halves(b, &Block::m, offset);
    }
    static ALWAYS_INLINE void row_scales(const Block* const* rows, int64_t i, Floats* scale, Floats* offset) {
        *scale = halves_of_rows(rows, i, &Block::d);
        *offset = halves_of_rows(rows, i, &Block::m);
    }
};
/// Super blocks of 256.
template <typename B, int elements, bool has_offsets> struct Super {
    using Block = B;
    static constexpr int pieces = 8, scaled = elements;
    static constexpr bool offsets = has_offsets;
};

struct RowQ4_0 : Plain, OneScale<BlockQ4_0> {
    static constexpr int less = 8;
    static ALWAYS_INLINE const void* fours(const Block& b, int) { return b.qs; }
};

struct RowQ4_1 : Plain, ScaleAndLeast<BlockQ4_1> {
    static constexpr int less = 0;
    static ALWAYS_INLINE const void* fours(const Block& b, int) { return b.qs; }
};

struct RowQ5_0 : Plain, OneScale<BlockQ5_0> {
    static constexpr int less = 16;
    static ALWAYS_INLINE const void* fours(const Block& b, int) { return b.qs; }
    static ALWAYS_INLINE const uint8_t* fifths(const Block& b) { return b.qh; }
};

struct RowQ5_1 : Plain, ScaleAndLeast<BlockQ5_1> {
    static constexpr int less = 0;
    static ALWAYS_INLINE const void* fours(const Block& b, int) { return b.qs; }
    static ALWAYS_INLINE const uint8_t* fifths(const Block& b) { return b.qh; }
};

struct RowQ8_0 : OneScale<BlockQ8_0> {
    static constexpr int less = 128;
    static ALWAYS_INLINE const int8_t* bytes(const Block& b, int) { return b.qs; }
    template <typename At> static ALWAYS_INLINE auto numbers(At bytes, int) {
        return bytes([](const Block& b) { return b.qs; }) ^ 128;
    }
};

struct RowIQ4_NL : Uneven, OneScale<BlockIQ4_NL> {
    static ALWAYS_INLINE const void* fours(const Block& b, int) { return b.qs; }
};

struct RowMXFP4 : Fp4 {
    /// As mxfp4_scale does it.
    static ALWAYS_INLINE float scale_of(uint8_t e) {
        return __builtin_bit_cast(float, e < 2 ? 0x00200000U << e : (e - 1U) << 23U);
    }
    using Block = BlockMXFP4;
    static constexpr int pieces = 1, scaled = 32;
    static constexpr bool offsets = false;
    static ALWAYS_INLINE void scales(const Block& b, float* scale, float*) { scale[0] = scale_of(b.e); }
    static ALWAYS_INLINE void eight_scales(const Block* b, float* scale, float*) {
        for (int i = 0; i < 8; ++i) {
            scale[i] = scale_of(b[i].e);
        }
    }
    static ALWAYS_INLINE void row_scales(const Block* const* rows, int64_t i, Floats* scale, Floats*) {
        float each[width];
        for (int r = 0; r < width; ++r) {
            each[r] = scale_of(rows[r][i].e);
        }
        *scale = load(each);
    }
    static ALWAYS_INLINE const void* fours(const Block& b, int) { return b.qs; }
};

struct RowQ2_K : Super<BlockQ2_K, 16, true> {
    static constexpr int less = 0;
    static ALWAYS_INLINE void scales(const Block& b, float* scale, float* offset) {
        const Bytes both = *reinterpret_cast<const BytesAt*>(b.scales);
        store_scaled(both & 15, half_bits_to_float(b.d), scale);
        store_scaled(both >> 4, -half_bits_to_float(b.dmin), offset);
    }
    template <typename At> static ALWAYS_INLINE auto numbers(At bytes, int p) {
        return bits_of(bytes([p](const Block& b) { return b.qs + 32 * (p / 4); }), 2 * (p % 4), 2);
    }
};

struct RowQ3_K : Super<BlockQ3_K, 16, false> {
    static constexpr int less = 4;
    static ALWAYS_INLINE void scales(const Block& b, float* scale, float*) {
        typedef uint64_t Halves __attribute__((vector_size(16)));
        typedef uint32_t Words __attribute__((vector_size(16)));
        uint64_t low = 0;
        uint32_t high = 0;
        __builtin_memcpy(&low, b.scales, sizeof low);
        __builtin_memcpy(&high, b.scales + 8, sizeof high);
        const Bytes fours = reinterpret_cast<Bytes>(Halves{low, low >> 4}) & 15;
        const Bytes twos = reinterpret_cast<Bytes>(Words{high, high >> 2, high >> 4, high >> 6}) & 3;
        store_scaled((fours | (twos << 4)) - 32, half_bits_to_float(b.d), scale);
    }
    template <typename At> static ALWAYS_INLINE auto numbers(At bytes, int p) {
        return bits_of(bytes([p](const Block& b) { return b.qs + 32 * (p / 4); }), 2 * (p % 4), 2) |
               bits_of(bytes([](const Block& b) { return b.hmask; }), p, 1, 2);
    }
};

struct RowTQ2_0 : Super<BlockTQ2_0, 32, false> {
    static constexpr int less = 1;
    static ALWAYS_INLINE void scales(const Block& b, float* scale, float*) {
        const float d = half_bits_to_float(b.d);
        for (int i = 0; i < 8; ++i) {
            scale[i] = d;
        }
    }
    template <typename At> static ALWAYS_INLINE auto numbers(At bytes, int p) {
        return bits_of(bytes([p](const Block& b) { return b.qs + 32 * (p / 4); }), 2 * (p % 4), 2);
    }
};

/// Scales and minima of Q4_K and Q5_K: eight of each in 6 bits.
template <typename Block> ALWAYS_INLINE void scales_and_minima(const Block& b, float* scale, float* offset) {
    typedef uint32_t Words __attribute__((vector_size(16)));
    uint32_t s[3];
    __builtin_memcpy(s, b.scales, sizeof s);
    constexpr uint32_t sixes = 0x3F3F3F3F, fours = 0x0F0F0F0F, twos = 0x03030303;
    const Words eights = {s[0] & sixes, (s[2] & fours) | (((s[0] >> 6) & twos) << 4), // scales
                          s[1] & sixes, ((s[2] >> 4) & fours) | (((s[1] >> 6) & twos) << 4)};
    float both[16];
    store_scaled(reinterpret_cast<Bytes>(eights), 1.0F, both);
    const float d = half_bits_to_float(b.d), least = -half_bits_to_float(b.dmin);
    for (int i = 0; i < 8; ++i) {
        scale[i] = d * both[i];
        offset[i] = least * both[i + 8];
    }
}

struct RowQ4_K : Super<BlockQ4_K, 32, true> {
    static constexpr int less = 0;
    static ALWAYS_INLINE void scales(const Block& b, float* scale, float* offset) { scales_and_minima(b, scale, offset); }
    template <typename At> static ALWAYS_INLINE auto numbers(At bytes, int p) {
        return bits_of(bytes([p](const Block& b) { return b.qs + 32 * (p / 2); }), 4 * (p % 2), 4);
    }
};

struct RowQ5_K : Super<BlockQ5_K, 32, true> {
    static constexpr int less = 0;
    static ALWAYS_INLINE void scales(const Block& b, float* scale, float* offset) { scales_and_minima(b, scale, offset); }
    template <typename At> static ALWAYS_INLINE auto numbers(At bytes, int p) {
        return joined(bytes([p](const Block& b) { return b.qs + 32 * (p / 2); }), bytes([](const Block& b) { return b.qh; }), p);
    }
    template <typename V> static ALWAYS_INLINE V joined(V fours, V fifth, int p) {
        return bits_of(fours, 4 * (p % 2), 4) | bits_of(fifth, p, 1, 4);
    }
};

struct RowQ6_K : Super<BlockQ6_K, 16, false> {
    static constexpr int less = 32;
    static ALWAYS_INLINE void scales(const Block& b, float* scale, float*) {
        store_scaled(*reinterpret_cast<const BytesAt*>(b.scales), half_bits_to_float(b.d), scale);
    }
    template <typename At> static ALWAYS_INLINE auto numbers(At bytes, int p) {
        const int half = p / 4, part = p % 4;
        return joined(bytes([=](const Block& b) { return b.ql + 64 * half + 32 * (part % 2); }),
                      bytes([=](const Block& b) { return b.qh + 32 * half; }), p);
    }
    template <typename V> static ALWAYS_INLINE V joined(V fours, V twos, int p) {
        const int part = p % 4;
        return bits_of(fours, part < 2 ? 0 : 4, 4) | bits_of(twos, 2 * part, 2, 4);
    }
};

struct RowIQ4_XS : Uneven, Super<BlockIQ4_XS, 32, false> {
    static ALWAYS_INLINE void scales(const Block& b, float* scale, float*) {
        const float d = half_bits_to_float(b.d);
        for (int i = 0; i < 8; ++i) {
            const int low = (b.scales_l[i / 2] >> (4 * (i % 2))) & 15;
            const int high = (b.scales_h >> (2 * i)) & 3;
            scale[i] = d * static_cast<float>((low | (high << 4)) - 32);
        }
    }
    static ALWAYS_INLINE const void* fours(const Block& b, int p) { return b.qs + 16 * p; }
};

template <typename Row>
concept HasFours = requires(const typename Row::Block& b) {
    Row::fours(b, 0);
};
template <typename Row>
concept HasBytes = requires(const typename Row::Block& b) {
    Row::bytes(b, 0);
};
template <typename Row>
concept HasFifths = requires(const typename Row::Block& b) {
    Row::fifths(b);
};

template <typename Row>
concept HasFoursAlone = HasFours<Row> && !HasFifths<Row>;

template <typename Row> ALWAYS_INLINE Piece numbers_of(const typename Row::Block& b, int p) {
    if constexpr (HasFifths<Row>) {
        return fours_at(Row::fours(b, p)) | bits_to_bytes(Row::fifths(b), 16);
    } else if constexpr (HasFours<Row>) {
        return Row::numbers_of(fours_at(Row::fours(b, p)));
    } else {
        return Row::numbers(
            [&](auto where) __attribute__((always_inline)) { return piece_at(where(b)); }, p);
    }
}
#if defined(__AVX512F__)
/// Piece p of two blocks at once; of types that do not have fours alone.
template <typename Row> ALWAYS_INLINE TwoPieces numbers_of(const typename Row::Block& a, const typename Row::Block& b, int p) {
    if constexpr (HasFifths<Row>) {
        return two_fours_at(Row::fours(a, p), Row::fours(b, p)) |
               joined(bits_to_bytes(Row::fifths(a), 16), bits_to_bytes(Row::fifths(b), 16));
    } else {
        return Row::numbers(
            [&](auto where) __attribute__((always_inline)) { return joined(piece_at(where(a)), piece_at(where(b))); }, p);
    }
}
#endif

constexpr int piece_vectors = piece / width; ///< of floats in a piece

/// What each four bits stand for, without and with the fifth.
template <typename Row> struct ValuesOfFours {
    static constexpr int n = HasFifths<Row> ? 32 : 16;
    float of[n] = {};
    constexpr ValuesOfFours() {
        for (int i = 0; i < n; ++i) {
            of[i] = static_cast<float>(Row::number_of(i) - Row::less);
        }
    }
};
template <typename Row> constexpr ValuesOfFours<Row> values_of_fours{};

/// Piece p as floats, before they are scaled.
template <typename Row> ALWAYS_INLINE void piece_as_floats(const typename Row::Block& b, int p, Floats (&out)[piece_vectors]) {
    if constexpr (HasBytes<Row>) {
        const BytesAt* const bytes = reinterpret_cast<const BytesAt*>(Row::bytes(b, p)); // auto would ask for alignment
        UNROLL(8)
        for (int i = 0; i < piece_vectors; ++i) {
            out[i] = to_floats(bytes[i * width / group], i % (group / width));
        }
        return;
    }
#if defined(__AVX512F__)
    if constexpr (HasFours<Row>) { // looked up as floats, by the lower four bits of each element
        const __m512i low = _mm512_cvtepu8_epi32(_mm_loadu_si128(static_cast<const __m128i*>(Row::fours(b, p))));
        const __m512i high = _mm512_srli_epi32(low, 4);
        const __m512 values = _mm512_loadu_ps(values_of_fours<Row>.of);
        __m512 first = _mm512_permutexvar_ps(low, values), second = _mm512_permutexvar_ps(high, values);
        if constexpr (HasFifths<Row>) {
            const __m512 with_fifth = _mm512_loadu_ps(values_of_fours<Row>.of + 16);
            __mmask16 bits[2];
            __builtin_memcpy(bits, Row::fifths(b), sizeof bits);
            first = _mm512_mask_permutexvar_ps(first, bits[0], low, with_fifth);
            second = _mm512_mask_permutexvar_ps(second, bits[1], high, with_fifth);
        }
        out[0] = reinterpret_cast<Floats>(first);
        out[1] = reinterpret_cast<Floats>(second);
        return;
    }
#endif
    const Piece numbers = numbers_of<Row>(b, p) - static_cast<uint8_t>(Row::less);
    UNROLL(8)
    for (int i = 0; i < piece_vectors; ++i) {
        out[i] = to_floats(half_of(numbers, i * width >= group), i % (group / width));
    }
}

/// use(at, floats) for each vector of a block; `at`: of its first element.
template <typename Row, typename Use> ALWAYS_INLINE void each_vector(const typename Row::Block& b, Use use) {
    float scale[16];
    float offset[16];
    Row::scales(b, scale, offset);
    UNROLL(8)
    for (int p = 0; p < Row::pieces; ++p) {
        Floats numbers[piece_vectors];
        piece_as_floats<Row>(b, p, numbers);
        UNROLL(8)
        for (int i = 0; i < piece_vectors; ++i) {
            const int at = p * piece + i * static_cast<int>(width);
            const Floats values = numbers[i] * scale[at / Row::scaled];
            use(at, Row::offsets ? values + offset[at / Row::scaled] : values);
        }
    }
}

} // namespace

} // namespace schedscope
