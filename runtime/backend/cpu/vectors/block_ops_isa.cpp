// Quantised rows, taken apart sixteen elements at a time: their numbers as bytes, then as floats. Compiled once for each
// instruction set.

#include "runtime/backend/cpu/vectors/isa_vectors.h"
#include "runtime/backend/cpu/vectors/vector_ops.h"
#include "runtime/numbers.h"
#include "runtime/tensor/blocks.h"

namespace schedscope {

namespace {

typedef int8_t Codes __attribute__((vector_size(16)));
typedef uint8_t Bytes __attribute__((vector_size(16)));
typedef uint8_t BytesAt __attribute__((vector_size(16), aligned(1), may_alias));
typedef uint64_t Halves __attribute__((vector_size(16)));

#define ALWAYS_INLINE inline __attribute__((always_inline))

ALWAYS_INLINE Bytes bytes_at(const void* p) { return *static_cast<const BytesAt*>(p); }

/// Four bits of each byte: the low ones, or the high ones.
ALWAYS_INLINE Bytes fours(const uint8_t* p, bool high) { return high ? bytes_at(p) >> 4 : bytes_at(p) & 15; }

/// `value` in the bytes whose bit is set; bit 8 i + j belongs to byte 8 i + j.
ALWAYS_INLINE Bytes bits_to_bytes(const uint8_t* two_bytes, uint8_t value) {
#if defined(__AVX512BW__) && defined(__AVX512VL__)
    const auto bits = static_cast<__mmask16>(two_bytes[0] | (two_bytes[1] << 8));
    return reinterpret_cast<Bytes>(_mm_maskz_set1_epi8(bits, value));
#else
    const Halves spread = {two_bytes[0] * 0x0101010101010101U, two_bytes[1] * 0x0101010101010101U};
    const Bytes mask = {1, 2, 4, 8, 16, 32, 64, 128, 1, 2, 4, 8, 16, 32, 64, 128};
    return reinterpret_cast<Bytes>((reinterpret_cast<Bytes>(spread) & mask) != 0) & value;
#endif
}

ALWAYS_INLINE Codes signed_codes(Bytes b) { return reinterpret_cast<Codes>(b); }

ALWAYS_INLINE Codes iq4_codes(Bytes fours) {
    const Codes values = {-127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113};
#if defined(__AVX2__)
    return reinterpret_cast<Codes>(_mm_shuffle_epi8(reinterpret_cast<__m128i>(values), reinterpret_cast<__m128i>(fours)));
#else
    Codes out{};
    for (int i = 0; i < 16; ++i) {
        out[i] = values[fours[i]];
    }
    return out;
#endif
}

/// Elements [part × width, (part + 1) × width) as floats.
ALWAYS_INLINE Floats to_floats(Codes c, int part) {
    const auto bits = reinterpret_cast<__attribute__((vector_size(16))) long long>(c);
#if defined(__AVX512F__)
    static_cast<void>(part);
    return reinterpret_cast<Floats>(_mm512_cvtepi32_ps(_mm512_cvtepi8_epi32(bits)));
#elif defined(__AVX2__)
    return reinterpret_cast<Floats>(_mm256_cvtepi32_ps(_mm256_cvtepi8_epi32(part == 0 ? bits : _mm_unpackhi_epi64(bits, bits))));
#else
    static_cast<void>(bits);
    Ints ints{};
    for (int i = 0; i < width; ++i) {
        ints[i] = c[part * width + i];
    }
    return __builtin_convertvector(ints, Floats);
#endif
}

// One description per type: element i of group g (sixteen elements) is codes(block, g)[i] × scale[g] + offset[g]. Types without
// `offsets` have none. Types whose elements are four bits each say where those of a group lie and what they stand for.

/// Sixteen bytes of which the low or the high four bits count.
struct Fours {
    const uint8_t* bytes;
    bool high;
};
struct Any {
    static constexpr bool four_bits = false;
};
/// What four bits stand for: the number itself, the number less eight, the uneven steps of IQ4.
struct Plain {
    static constexpr bool four_bits = true;
    static ALWAYS_INLINE Codes codes_of(Bytes fours) { return signed_codes(fours); }
#if defined(__AVX512F__)
    static ALWAYS_INLINE Floats values() { return Floats{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15}; }
#endif
};
struct LessEight {
    static constexpr bool four_bits = true;
    static ALWAYS_INLINE Codes codes_of(Bytes fours) { return signed_codes(fours) - 8; }
#if defined(__AVX512F__)
    static ALWAYS_INLINE Floats values() { return Floats{-8, -7, -6, -5, -4, -3, -2, -1, 0, 1, 2, 3, 4, 5, 6, 7}; }
#endif
};
struct Uneven {
    static constexpr bool four_bits = true;
    static ALWAYS_INLINE Codes codes_of(Bytes fours) { return iq4_codes(fours); }
#if defined(__AVX512F__)
    static ALWAYS_INLINE Floats values() {
        return Floats{-127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113};
    }
#endif
};

/// Blocks of 32 with one scale, and those with a least value too.
template <typename B> struct OneScale {
    using Block = B;
    static constexpr int groups = 2;
    static constexpr bool offsets = false;
    static ALWAYS_INLINE void scales(const Block& b, float* scale, float*) { scale[0] = scale[1] = half_bits_to_float(b.d); }
};
template <typename B> struct ScaleAndLeast {
    using Block = B;
    static constexpr int groups = 2;
    static constexpr bool offsets = true;
    static ALWAYS_INLINE void scales(const Block& b, float* scale, float* offset) {
        scale[0] = scale[1] = half_bits_to_float(b.d);
        offset[0] = offset[1] = half_bits_to_float(b.m);
    }
};

struct RowQ4_0 : LessEight, OneScale<BlockQ4_0> {
    static ALWAYS_INLINE Fours place(const Block& b, int g) { return {b.qs, g == 1}; }
};

struct RowQ4_1 : Plain, ScaleAndLeast<BlockQ4_1> {
    static ALWAYS_INLINE Fours place(const Block& b, int g) { return {b.qs, g == 1}; }
};

struct RowQ5_0 : Any, OneScale<BlockQ5_0> {
    static ALWAYS_INLINE Codes codes(const Block& b, int g) {
        return signed_codes(fours(b.qs, g == 1) | bits_to_bytes(b.qh + 2 * g, 16)) - 16;
    }
};

struct RowQ5_1 : Any, ScaleAndLeast<BlockQ5_1> {
    static ALWAYS_INLINE Codes codes(const Block& b, int g) {
        return signed_codes(fours(b.qs, g == 1) | bits_to_bytes(b.qh + 2 * g, 16));
    }
};

struct RowQ8_0 : Any, OneScale<BlockQ8_0> {
    static ALWAYS_INLINE Codes codes(const Block& b, int g) { return signed_codes(bytes_at(b.qs + 16 * g)); }
};

struct RowIQ4_NL : Uneven, OneScale<BlockIQ4_NL> {
    static ALWAYS_INLINE Fours place(const Block& b, int g) { return {b.qs, g == 1}; }
};

struct RowQ2_K : Any {
    using Block = BlockQ2_K;
    static constexpr int groups = 16;
    static constexpr bool offsets = true;
    static ALWAYS_INLINE void scales(const Block& b, float* scale, float* offset) {
        const float d = half_bits_to_float(b.d);
        const float dmin = half_bits_to_float(b.dmin);
        for (int g = 0; g < groups; ++g) {
            scale[g] = d * (b.scales[g] & 15);
            offset[g] = -dmin * (b.scales[g] >> 4);
        }
    }
    static ALWAYS_INLINE Codes codes(const Block& b, int g) {
        return signed_codes((bytes_at(b.qs + 32 * (g / 8) + 16 * (g % 2)) >> (2 * (g % 8 / 2))) & 3);
    }
};

struct RowQ3_K : Any {
    using Block = BlockQ3_K;
    static constexpr int groups = 16;
    static constexpr bool offsets = false;
    static ALWAYS_INLINE void scales(const Block& b, float* scale, float*) {
        const float d = half_bits_to_float(b.d);
        for (int g = 0; g < groups; ++g) {
            const int low = g < 8 ? b.scales[g] & 15 : b.scales[g - 8] >> 4;
            const int high = (b.scales[8 + g % 4] >> (2 * (g / 4))) & 3;
            scale[g] = d * static_cast<float>((low | (high << 4)) - 32);
        }
    }
    static ALWAYS_INLINE Codes codes(const Block& b, int g) {
        const Bytes low = (bytes_at(b.qs + 32 * (g / 8) + 16 * (g % 2)) >> static_cast<uint8_t>(2 * (g % 8 / 2))) & 3;
        const Bytes high = (bytes_at(b.hmask + 16 * (g % 2)) >> static_cast<uint8_t>(g / 2)) & 1;
        return signed_codes(low | (high << 2)) - 4;
    }
};

/// Scales and minima of Q4_K and Q5_K: eight of each in 6 bits, each for two groups of sixteen.
template <typename Block> ALWAYS_INLINE void scales_and_minima(const Block& b, float* scale, float* offset) {
    const float d = half_bits_to_float(b.d);
    const float dmin = half_bits_to_float(b.dmin);
    const uint8_t* s = b.scales;
    for (int i = 0; i < 8; ++i) {
        const int number = i < 4 ? s[i] & 63 : (s[i + 4] & 15) | ((s[i - 4] >> 6) << 4);
        const int min = i < 4 ? s[i + 4] & 63 : (s[i + 4] >> 4) | ((s[i] >> 6) << 4);
        scale[2 * i] = scale[2 * i + 1] = d * static_cast<float>(number);
        offset[2 * i] = offset[2 * i + 1] = -dmin * static_cast<float>(min);
    }
}

struct RowQ4_K : Plain {
    using Block = BlockQ4_K;
    static constexpr int groups = 16;
    static constexpr bool offsets = true;
    static ALWAYS_INLINE void scales(const Block& b, float* scale, float* offset) { scales_and_minima(b, scale, offset); }
    static ALWAYS_INLINE Fours place(const Block& b, int g) { return {b.qs + 32 * (g / 4) + 16 * (g % 2), g % 4 >= 2}; }
};

struct RowQ5_K : Any {
    using Block = BlockQ5_K;
    static constexpr int groups = 16;
    static constexpr bool offsets = true;
    static ALWAYS_INLINE void scales(const Block& b, float* scale, float* offset) { scales_and_minima(b, scale, offset); }
    static ALWAYS_INLINE Codes codes(const Block& b, int g) {
        const Bytes high = (bytes_at(b.qh + 16 * (g % 2)) >> static_cast<uint8_t>(g / 2)) & 1;
        return signed_codes(fours(b.qs + 32 * (g / 4) + 16 * (g % 2), g % 4 >= 2) | (high << 4));
    }
};

struct RowQ6_K : Any {
    using Block = BlockQ6_K;
    static constexpr int groups = 16;
    static constexpr bool offsets = false;
    static ALWAYS_INLINE void scales(const Block& b, float* scale, float*) {
        const float d = half_bits_to_float(b.d);
        for (int g = 0; g < groups; ++g) {
            scale[g] = d * b.scales[g];
        }
    }
    static ALWAYS_INLINE Codes codes(const Block& b, int g) {
        const int half = g / 8;
        const int part = g % 8 / 2; // 32 elements
        const int at = 16 * (g % 2);
        const Bytes low = fours(b.ql + 64 * half + 32 * (part % 2) + at, part >= 2);
        const Bytes high = (bytes_at(b.qh + 32 * half + at) >> static_cast<uint8_t>(2 * part)) & 3;
        return signed_codes(low | (high << 4)) - 32;
    }
};

struct RowIQ4_XS : Uneven {
    using Block = BlockIQ4_XS;
    static constexpr int groups = 16;
    static constexpr bool offsets = false;
    static ALWAYS_INLINE void scales(const Block& b, float* scale, float*) {
        const float d = half_bits_to_float(b.d);
        for (int i = 0; i < 8; ++i) {
            const int low = (b.scales_l[i / 2] >> (4 * (i % 2))) & 15;
            const int high = (b.scales_h >> (2 * i)) & 3;
            scale[2 * i] = scale[2 * i + 1] = d * static_cast<float>((low | (high << 4)) - 32);
        }
    }
    static ALWAYS_INLINE Fours place(const Block& b, int g) { return {b.qs + 16 * (g / 2), g % 2 == 1}; }
};

constexpr int per_group = 16 / width; ///< vectors of floats in sixteen elements
constexpr int sums = per_group == 1 ? 2 : per_group;

template <typename Row> ALWAYS_INLINE Codes codes_of_group(const typename Row::Block& b, int g) {
    if constexpr (Row::four_bits) {
        const Fours place = Row::place(b, g);
        return Row::codes_of(fours(place.bytes, place.high));
    } else {
        return Row::codes(b, g);
    }
}

#if defined(__AVX512F__)
/// Four bits choose among the sixteen possible values, which one register holds; bits above them do not count.
ALWAYS_INLINE Floats choose(Floats values, Fours place) {
    const __m512i bytes = _mm512_cvtepu8_epi32(reinterpret_cast<__m128i>(bytes_at(place.bytes)));
    return reinterpret_cast<Floats>(
        _mm512_permutexvar_ps(place.high ? _mm512_srli_epi32(bytes, 4) : bytes, reinterpret_cast<__m512>(values)));
}
#endif

/// use(g, part, floats) for each vector of a block.
template <typename Row, typename Use> ALWAYS_INLINE void each_vector(const typename Row::Block& b, Use use) {
    float scale[Row::groups];
    float offset[Row::groups];
    Row::scales(b, scale, offset);
#pragma GCC unroll 16
    for (int g = 0; g < Row::groups; ++g) {
        const auto placed = [&](Floats numbers) __attribute__((always_inline)) {
            return Row::offsets ? numbers * scale[g] + offset[g] : numbers * scale[g];
        };
#if defined(__AVX512F__)
        if constexpr (Row::four_bits) {
            use(g, 0, choose(placed(Row::values()), Row::place(b, g)));
            continue;
        }
#endif
        const Codes codes = codes_of_group<Row>(b, g);
        for (int part = 0; part < per_group; ++part) {
            use(g, part, placed(to_floats(codes, part)));
        }
    }
}

template <typename Row, int N> void dot_columns(const void* row, const float* x, int64_t stride, int64_t n, float* out) {
    const auto* blocks = static_cast<const typename Row::Block*>(row);
    constexpr int block = 16 * Row::groups;
    Floats acc[N][sums] = {};
    for (int64_t i = 0; i < n / block; ++i) {
        const float* y = x + i * block;
        each_vector<Row>(
            blocks[i], [&](int g, int part, Floats w) __attribute__((always_inline)) {
                for (int j = 0; j < N; ++j) {
                    acc[j][(g * per_group + part) % sums] += w * load(y + j * stride + 16 * g + width * part);
                }
            });
    }
    for (int j = 0; j < N; ++j) {
        Floats sum = acc[j][0];
        for (int s = 1; s < sums; ++s) {
            sum += acc[j][s];
        }
        out[j] = total(sum);
    }
}

template <typename Row> void dot(const void* row, const float* x, int64_t stride, int n_columns, int64_t n, float* out) {
    switch (n_columns) {
    case 1: return dot_columns<Row, 1>(row, x, stride, n, out);
    case 2: return dot_columns<Row, 2>(row, x, stride, n, out);
    case 3: return dot_columns<Row, 3>(row, x, stride, n, out);
    default: return dot_columns<Row, 4>(row, x, stride, n, out);
    }
}

template <typename Row> void expand_row(const void* row, float* out, int64_t n) {
    const auto* blocks = static_cast<const typename Row::Block*>(row);
    constexpr int block = 16 * Row::groups;
    for (int64_t i = 0; i < n / block; ++i) {
        each_vector<Row>(
            blocks[i], [&](int g, int part, Floats w)
                           __attribute__((always_inline)) { store(out + i * block + 16 * g + width * part, w); });
    }
}

template <typename Row> constexpr BlockOps ops_of() { return {dot<Row>, expand_row<Row>}; }

} // namespace

const BlockOps SCHEDSCOPE_TABLE(block_ops_, SCHEDSCOPE_ISA)[n_types] = {
    {}, // F32
    {}, // F16
    {}, // BF16
    {}, // I8
    {}, // I16
    {}, // I32
    {}, // I64
    {}, // F64
    ops_of<RowQ4_0>(),
    ops_of<RowQ4_1>(),
    ops_of<RowQ5_0>(),
    ops_of<RowQ5_1>(),
    ops_of<RowQ8_0>(),
    ops_of<RowQ2_K>(),
    ops_of<RowQ3_K>(),
    ops_of<RowQ4_K>(),
    ops_of<RowQ5_K>(),
    ops_of<RowQ6_K>(),
    ops_of<RowIQ4_NL>(),
    ops_of<RowIQ4_XS>(),
};
static_assert(ordinal(Type::Q4_0) == 8 && ordinal(Type::Q8_0) == 12 && ordinal(Type::Q2_K) == 13 && ordinal(Type::IQ4_NL) == 18 &&
                  ordinal(Type::count) == 20,
              "the table is in the order of the types");

} // namespace schedscope
