// Products of rows that were laid out side by side once, when they were loaded. For the files that are compiled once for each
// instruction set.
#pragma once

#include "runtime/backend/cpu/vectors/isa_panels.h"

#include <cstddef>

namespace schedscope {

namespace {

namespace int8 {

// `width` rows of blocks side by side, in as many bytes as they had: block by block, its fields in the order in which they are
// read, so that memory is read from its begin to its end, each field unit by unit (a word of four bytes, a half or a byte), that
// of all rows, a row a lane. Where numbers of rows are multiplied without signs, signed bytes are stored lifted.

/// Fields of a block, or parts of them, that follow each other: `count` units of `size` bytes from an offset on; with several
/// offsets a unit of each, then the next one of each.
struct Units {
    int size, count;
    int offsets[3];
    int n_offsets = 1;
};
template <typename Block> struct FieldsOf;
template <> struct FieldsOf<BlockQ4_0> { static constexpr Units all[] = {{2, 1, {0}}, {4, 4, {2}}}; };
template <> struct FieldsOf<BlockQ4_1> { static constexpr Units all[] = {{2, 2, {0}}, {4, 4, {4}}}; };
template <> struct FieldsOf<BlockQ8_0> { static constexpr Units all[] = {{2, 1, {0}}, {4, 8, {2}}}; };
template <> struct FieldsOf<BlockIQ4_NL> { static constexpr Units all[] = {{2, 1, {0}}, {4, 4, {2}}}; };
template <> struct FieldsOf<BlockQ4_K> { static constexpr Units all[] = {{2, 2, {0}}, {1, 12, {4}}, {4, 32, {16}}}; };
template <> struct FieldsOf<BlockQ5_K> {
    static constexpr Units all[] = {{2, 2, {0}}, {1, 12, {4}}, {4, 8, {16, 48}, 2}, {4, 24, {80}}};
};
template <> struct FieldsOf<BlockQ6_K> {
    static constexpr Units all[] = {{2, 1, {208}}, {1, 16, {192}}, {4, 8, {0, 128, 32}, 3}, {4, 8, {64, 160, 96}, 3}};
};

/// Where the byte at `offset` of a block lies, of one row alone.
template <typename Block> constexpr int place_of(size_t offset) {
    int place = 0;
    for (const Units& u : FieldsOf<Block>::all) {
        for (int k = 0; k < u.count * u.n_offsets; ++k, place += u.size) {
            const int in_unit = static_cast<int>(offset) - (u.offsets[k % u.n_offsets] + k / u.n_offsets * u.size);
            if (in_unit >= 0 && in_unit < u.size) {
                return place + in_unit;
            }
        }
    }
    return -1;
}
/// Do all bytes in front of `offset` lie as in a block?
template <typename Block> constexpr bool in_order_up_to(size_t offset) {
    for (size_t at = 0; at < offset; ++at) {
        if (place_of<Block>(at) != static_cast<int>(at)) {
            return false;
        }
    }
    return true;
}

/// Of a row, scales and the like.
template <typename Block> constexpr int64_t bytes_in_front() {
    int64_t n = 0;
    for (const Units& u : FieldsOf<Block>::all) {
        n += u.size < 4 ? u.size * u.count : 0;
    }
    return n;
}

template <typename Row> constexpr bool stored_lifted = HasBytes<Row>&& unsigned_first;

/// The unit at `offset` of a block of each row to its place in the panel, or (back) from it.
template <typename Row, int size, bool back>
inline void turn_unit(const std::byte* from, int64_t row_bytes, std::byte* to, int offset, int64_t place) {
    for (int64_t r = 0; r < width; ++r) {
        const int64_t in_row = r * row_bytes + offset, in_panel = place * width + r * size;
        uint32_t unit = 0;
        __builtin_memcpy(&unit, from + (back ? in_panel : in_row), size);
        if constexpr (stored_lifted<Row> && size == 4) {
            unit ^= 0x80808080U;
        }
        __builtin_memcpy(to + (back ? in_row : in_panel), &unit, size);
    }
}

template <typename Row, bool back> inline void turn_rows(const std::byte* from, int64_t n, std::byte* to) {
    using Block = typename Row::Block;
    constexpr int block = Row::pieces * piece;
    constexpr int64_t of_row = sizeof(Block), of_panel = of_row * width;
    constexpr int64_t ahead = 8 * of_row; // what lies in the file's pages is read here first
    const int64_t row_bytes = n / block * of_row;
    for (int64_t i = 0; i < n / block; ++i, from += back ? of_panel : of_row, to += back ? of_row : of_panel) {
        for (int64_t r = 0; !back && r < width; ++r) {
            __builtin_prefetch(from + r * row_bytes + ahead);
        }
        int64_t place = 0;
        for (const Units& u : FieldsOf<Block>::all) {
            for (int k = 0; k < u.count * u.n_offsets; ++k, place += u.size) {
                const int offset = u.offsets[k % u.n_offsets] + k / u.n_offsets * u.size;
                (u.size == 4   ? turn_unit<Row, 4, back>
                 : u.size == 2 ? turn_unit<Row, 2, back>
                               : turn_unit<Row, 1, back>)(from, row_bytes, to, offset, place);
            }
        }
    }
}
template <typename Row> void lay_out(const std::byte* rows, int64_t n, std::byte* panel) {
    turn_rows<Row, false>(rows, n, panel);
}
template <typename Row> void take_back(const std::byte* panel, int64_t n, std::byte* rows) {
    turn_rows<Row, true>(panel, n, rows);
}

typedef uint8_t LaneBytes __attribute__((vector_size(width)));
typedef uint8_t LaneBytesAt __attribute__((vector_size(width), aligned(1), may_alias));

/// So many bytes from a block's begin on lie in that order; what lies otherwise is looked for by name.
template <typename Row> constexpr size_t in_order = sizeof(typename Row::Block);
template <> constexpr size_t in_order<RowQ5_K> = offsetof(BlockQ5_K, qh);
template <> constexpr size_t in_order<RowQ6_K> = 0;

/// A block of all rows of a panel.
template <typename Row> struct PanelBlock {
    using Block = typename Row::Block;
    const std::byte* at;

    /// Where that lies, of all rows, which where(block) points to: a scale, or numbers that lie as in a block.
    template <typename Where> ALWAYS_INLINE const std::byte* of(Where where) const {
        static_assert(in_order_up_to<Block>(in_order<Row>));
        const auto* const first = reinterpret_cast<const Block*>(at);
        int64_t place = reinterpret_cast<const std::byte*>(where(*first)) - at;
        if constexpr (std::is_same_v<Row, RowQ6_K>) { // its scales are read first
            constexpr int64_t d = offsetof(Block, d), scales = offsetof(Block, scales);
            place = place == d ? place_of<Block>(d) : place - scales + place_of<Block>(scales);
        }
        return at + place * width;
    }
    ALWAYS_INLINE Floats half(uint16_t Block::*field) const {
        return load_half(reinterpret_cast<const uint16_t*>(of([=](const Block& b) { return &(b.*field); })));
    }
    /// Byte i of an array, as it is.
    template <typename Where> ALWAYS_INLINE LaneBytes byte(Where where, int i) const {
        return *reinterpret_cast<const LaneBytesAt*>(of(where) + i * width);
    }
};
/// Without signs, or with them; compilers take each byte by itself unless they are told the instruction.
template <bool with_signs> ALWAYS_INLINE Ints ints_of(LaneBytes v) {
#if defined(__AVX512F__)
    const auto bits = reinterpret_cast<__m128i>(v);
    return reinterpret_cast<Ints>(with_signs ? _mm512_cvtepi8_epi32(bits) : _mm512_cvtepu8_epi32(bits));
#elif defined(__AVX2__)
    const __m128i bits = _mm_cvtsi64_si128(__builtin_bit_cast(int64_t, v));
    return reinterpret_cast<Ints>(with_signs ? _mm256_cvtepi8_epi32(bits) : _mm256_cvtepu8_epi32(bits));
#elif defined(SCHEDSCOPE_NEON)
    const uint8x8_t bits = vreinterpret_u8_u32(vdup_n_u32(__builtin_bit_cast(uint32_t, v)));
    return with_signs ? vmovl_s16(vget_low_s16(vmovl_s8(vreinterpret_s8_u8(bits))))
                      : vreinterpretq_s32_u32(vmovl_u16(vget_low_u16(vmovl_u8(bits))));
#else
    typedef int8_t Signed __attribute__((vector_size(width)));
    return with_signs ? __builtin_convertvector(reinterpret_cast<Signed>(v), Ints) : __builtin_convertvector(v, Ints);
#endif
}
ALWAYS_INLINE Floats floats_of(LaneBytes v) { return to_floats(ints_of<false>(v)); }
ALWAYS_INLINE Floats floats_of_signed(LaneBytes v) { return to_floats(ints_of<true>(v)); }

/// Scales, and offsets if there are any, of group g of a block, a row a lane.
template <typename Row> struct PanelScales {
    PanelBlock<Row> block;
    ALWAYS_INLINE Floats scale(int) const { return block.half(&Row::Block::d); }
    ALWAYS_INLINE Floats offset(int) const { return block.half(&Row::Block::m); }
};
template <typename Row>
requires std::is_same_v<Row, RowQ4_K> || std::is_same_v<Row, RowQ5_K>
struct PanelScales<Row> {
    PanelBlock<Row> block;
    ALWAYS_INLINE LaneBytes byte(int i) const {
        return block.byte([](const typename Row::Block& b) { return b.scales; }, i);
    }
    ALWAYS_INLINE Floats scale(int g) const {
        return block.half(&Row::Block::d) * floats_of(g < 4 ? byte(g) & 63 : (byte(g + 4) & 15) | bits_of(byte(g - 4), 6, 2, 4));
    }
    ALWAYS_INLINE Floats offset(int g) const {
        return -block.half(&Row::Block::dmin) *
               floats_of(g < 4 ? byte(g + 4) & 63 : bits_of(byte(g + 4), 4, 4) | bits_of(byte(g), 6, 2, 4));
    }
};
template <> struct PanelScales<RowQ6_K> {
    PanelBlock<RowQ6_K> block;
    ALWAYS_INLINE Floats scale(int g) const {
        return block.half(&BlockQ6_K::d) * floats_of_signed(block.byte([](const BlockQ6_K& b) { return b.scales; }, g));
    }
};

/// What four neighbours of all rows are made of, in pieces that share bytes.
template <typename Row> constexpr int n_vectors = 1;
template <> constexpr int n_vectors<RowQ5_K> = 2;
template <> constexpr int n_vectors<RowQ6_K> = 3;
template <typename Row> struct Stored { Numbers vectors[n_vectors<Row>]; };

/// Where these lie, of one row, for neighbours q of piece p. Said once more: compilers don't find out by themselves from FieldsOf
/// in loops as long as these are.
template <typename Row> struct Places { int of[n_vectors<Row>]; };
constexpr ALWAYS_INLINE Places<RowQ5_K> places_of_q5(int p, int q) {
    return {{p < 2 ? 20 + 8 * q : 48 + 32 * (p / 2) + 4 * q, 16 + 8 * q}};
}
constexpr ALWAYS_INLINE Places<RowQ6_K> places_of_q6(int p, int q) {
    const int first = 18 + 96 * (p / 4) + 12 * q;
    return {{first, first + 8, first + 4}};
}
constexpr bool places_are_those_of_the_fields() {
    for (int p = 0; p < super_block / piece; ++p) {
        for (int q = 0; q < fours_in_piece; ++q) {
            const Places<RowQ5_K> five = places_of_q5(p, q);
            const Places<RowQ6_K> six = places_of_q6(p, q);
            const size_t low = offsetof(BlockQ6_K, ql) + 64 * (p / 4) + 4 * q;
            if (five.of[0] != place_of<BlockQ5_K>(offsetof(BlockQ5_K, qs) + 32 * (p / 2) + 4 * q) ||
                five.of[1] != place_of<BlockQ5_K>(offsetof(BlockQ5_K, qh) + 4 * q) || six.of[0] != place_of<BlockQ6_K>(low) ||
                six.of[1] != place_of<BlockQ6_K>(low + 32) ||
                six.of[2] != place_of<BlockQ6_K>(offsetof(BlockQ6_K, qh) + 32 * (p / 4) + 4 * q)) {
                return false;
            }
        }
    }
    return true;
}
static_assert(places_are_those_of_the_fields());

/// Of neighbours q of piece p. In registers: where instructions name them in memory a line of the cache is asked for several
/// times, and what the processor waits with is full the sooner (on Zen 4 Q6_K's decode takes 8 % longer).
template <typename Row, bool in_registers> ALWAYS_INLINE Stored<Row> stored_at(const PanelBlock<Row>& block, int p, int q) {
    const auto vector = [](const std::byte* at) __attribute__((always_inline)) {
        auto v = reinterpret_cast<Numbers>(wide_at(at));
#if defined(__AVX512F__)
        if constexpr (in_registers) {
            asm("" : "+v"(v));
        }
#elif defined(__aarch64__)
        if constexpr (in_registers) {
            asm("" : "+w"(v));
        }
#endif
        return v;
    };
    [[maybe_unused]] const auto unit = [&](int place) __attribute__((always_inline)) { return vector(block.at + place * width); };
    const auto field = [&](auto where, int i) __attribute__((always_inline)) { return vector(block.of(where) + i * bytes); };
    if constexpr (HasFours<Row>) {
        return {{field([p](const typename Row::Block& b) { return Row::fours(b, p); }, q % 4)}};
    } else if constexpr (HasBytes<Row>) {
        return {{field([p](const typename Row::Block& b) { return Row::bytes(b, p); }, q)}};
    } else if constexpr (std::is_same_v<Row, RowQ5_K>) {
        const auto places = places_of_q5(p, q);
        return {{unit(places.of[0]), unit(places.of[1])}};
    } else if constexpr (std::is_same_v<Row, RowQ6_K>) {
        const auto places = places_of_q6(p, q);
        return {{unit(places.of[0]), unit(places.of[1]), unit(places.of[2])}};
    } else {
        return {{field([p](const BlockQ4_K& b) { return b.qs + 32 * (p / 2); }, q)}};
    }
}

/// The numbers themselves: lifted by `less`, bytes as `stored_lifted` says.
template <typename Row> ALWAYS_INLINE Numbers numbers_of(const Stored<Row>& stored, int p, int q) {
    const auto& v = stored.vectors;
    if constexpr (HasFours<Row>) {
        return Row::numbers_of(q < 4 ? v[0] & 15 : v[0] >> 4);
    } else if constexpr (HasBytes<Row>) {
        return v[0];
    } else if constexpr (std::is_same_v<Row, RowQ5_K>) {
        return Row::joined(v[0], v[1], p);
    } else if constexpr (std::is_same_v<Row, RowQ6_K>) {
        return Row::joined(v[p % 2], v[2], p);
    } else {
        return Row::numbers(
            [&](auto) __attribute__((always_inline)) { return v[0]; }, p);
    }
}

/// The largest number of a type.
template <typename Row> constexpr int most_of = 255;
template <> constexpr int most_of<RowQ4_0> = 15;
template <> constexpr int most_of<RowQ4_1> = 15;
template <> constexpr int most_of<RowQ4_K> = 15;
template <> constexpr int most_of<RowQ5_K> = 31;
template <> constexpr int most_of<RowQ6_K> = 63;

/// Products of so many fours fit into sixteen bits together, of pairs, where numbers have no signs; 0: not of one.
#if defined(__AVX2__)
template <typename Row> constexpr int fours_in_shorts = unsigned_first ? 0 : 32767 / (2 * 127 * most_of<Row>);
#else
template <typename Row> constexpr int fours_in_shorts = 0;
#endif
/// Are numbers multiplied as they are stored, and what they are lifted by is taken off the sums?
template <typename Row> constexpr bool without_signs = unsigned_first || fours_in_shorts<Row> > 0;
template <typename Row> constexpr int taken_off = without_signs<Row> ? Row::less : 0;

/// Pieces that are made of the same bytes.
template <typename Row> constexpr int of_same_bytes = 1;
template <> constexpr int of_same_bytes<RowQ4_K> = 2;
template <> constexpr int of_same_bytes<RowQ5_K> = 2;
template <> constexpr int of_same_bytes<RowQ6_K> = 4;

/// Neighbours q and q + 4 of a piece are made of the same bytes, too.
template <typename Row> constexpr int fours_of_same_bytes = HasFours<Row> ? 2 : 1;

/// sum[t] += products of vectors [0, n) of M panels with N columns, of T pieces; stored(m, q), numbers(stored, t, q) and
/// column(t, j, q).
template <typename Row, int T, int M, int N, int n, typename StoredAt, typename NumbersOf, typename Column>
ALWAYS_INLINE void add_products(StoredAt stored, NumbersOf numbers, Column column, Ints (&sum)[T][M][N]) {
#if defined(__AVX2__)
    if constexpr (fours_in_shorts < Row >> 0) {
        constexpr int at_once = fours_in_shorts<Row> >= n ? n : fours_in_shorts<Row> >= 4 ? 4 : 2;
        static_assert(T == 1 && fours_in_shorts<Row> >= 2 && n % at_once == 0);
        typedef int16_t Shorts __attribute__((vector_size(bytes)));
        UNROLL(8)
        for (int from = 0; from < n; from += at_once) {
            Shorts pairs[M][N];
            UNROLL(8)
            for (int q = 0; q < at_once; ++q) {
                Numbers w[M];
                for (int m = 0; m < M; ++m) {
                    w[m] = numbers(stored(m, from + q), 0, from + q);
                }
                for (int j = 0; j < N; ++j) {
                    const Wide four = column(0, j, from + q);
                    for (int m = 0; m < M; ++m) {
#if defined(__AVX512F__)
                        const auto both = reinterpret_cast<Shorts>(
                            _mm512_maddubs_epi16(reinterpret_cast<__m512i>(w[m]), reinterpret_cast<__m512i>(four)));
#else
                        const auto both = reinterpret_cast<Shorts>(
                            _mm256_maddubs_epi16(reinterpret_cast<__m256i>(w[m]), reinterpret_cast<__m256i>(four)));
#endif
                        pairs[m][j] = q == 0 ? both : pairs[m][j] + both;
                        asm("" : "+v"(pairs[m][j])); // else gcc adds after all products, which wait in memory
                    }
                }
            }
            for (int m = 0; m < M; ++m) {
                for (int j = 0; j < N; ++j) {
#if defined(__AVX512F__)
                    sum[0][m][j] +=
                        reinterpret_cast<Ints>(_mm512_madd_epi16(reinterpret_cast<__m512i>(pairs[m][j]), _mm512_set1_epi16(1)));
#else
                    sum[0][m][j] +=
                        reinterpret_cast<Ints>(_mm256_madd_epi16(reinterpret_cast<__m256i>(pairs[m][j]), _mm256_set1_epi16(1)));
#endif
                }
            }
        }
        return;
    }
#endif
    constexpr int halves = fours_of_same_bytes<Row>;
    static_assert(halves == 1 || n == 8);
    UNROLL(8)
    for (int first = 0; first < n / halves; ++first) {
        Stored<Row> of[M];
        for (int m = 0; m < M; ++m) {
            of[m] = stored(m, first);
        }
        UNROLL(4)
        for (int k = 0; k < halves * T; ++k) {
            const int t = k / halves, q = first + k % halves * (n / halves);
            Wide w[M];
            for (int m = 0; m < M; ++m) {
                const Numbers each = numbers(of[m], t, q);
                constexpr int less = without_signs<Row> || HasBytes<Row> ? 0 : Row::less;
                w[m] = reinterpret_cast<Wide>(less == 0 ? each : each - static_cast<uint8_t>(less));
            }
            for (int j = 0; j < N; ++j) {
                const Wide four = column(t, j, q);
                for (int m = 0; m < M; ++m) {
                    sum[t][m][j] = add_fours(sum[t][m][j], w[m], four);
                }
            }
        }
    }
}

/// M panels of rows times N columns. fetches: asks for what is read soon.
template <typename Row, int M, int N>
void multiply_repacked_tile(const std::byte* panel, int64_t n, const Int8Columns& x, int64_t first, bool fetches, float* out,
                            int64_t out_stride) {
    using Block = typename Row::Block;
    constexpr int block = Row::pieces * piece, parts = piece / Row::scaled, groups = Row::scaled / group;
    constexpr int in_part = piece / 4 / parts;
    constexpr auto of_block = static_cast<int64_t>(sizeof(Block)) * width;
    const int64_t apart = n / block * of_block;
    const int8_t* codes[N];
    for (int j = 0; j < N; ++j) {
        codes[j] = x.codes + (first + j) * x.stride;
    }
    const float* const scales = x.scales + first * x.group_stride;
    const float* const of_sums = x.sums + first * x.group_stride;
    const int32_t* const begins = x.begins + first * x.group_stride;
    // What is made of the same bytes is multiplied together, where there are registers for its sums.
    constexpr int together = N == 1 && registers == 32 && fours_in_shorts<Row> == 0 ? of_same_bytes<Row> : 1;
    constexpr int held = together > 1 ? parts : 1;
    constexpr bool in_registers = N == 1 && registers == 32;
    Floats acc[M][N] = {};
    for (int64_t i = 0; i < n / block; ++i, panel += of_block) {
        const int64_t ahead = fetched_ahead_of(M, apart, (n / block - i) * of_block);
        if constexpr (N == 1 && Row::pieces > 1) {
            // What is read first lies in front. And the column, which the panels that stream by push out of the nearest cache.
            fetch(panel, bytes_in_front<Block>() * width);
            fetch(codes[0] + (i + 1) * block, block);
            fetch(scales + (i + 1) * (block / group), block / group * sizeof(float));
            if constexpr (taken_off<Row> != 0) {
                fetch(begins + (i + 1) * (block / Row::scaled), block / Row::scaled * sizeof(int32_t));
            }
            if constexpr (Row::offsets) {
                fetch(of_sums + (i + 1) * (block / group), block / group * sizeof(float));
            }
        }
        UNROLL(8)
        for (int p = 0; p < Row::pieces; p += together) {
            if (fetches) {
                for (int m = 0; m < M; ++m) {
                    fetch<N>(panel + m * apart + ahead + p * (of_block / Row::pieces), together * of_block / Row::pieces);
                }
            }
            asm volatile("" : "+r"(panel)); // what more pieces are made of is read again: there are no registers to keep it
            UNROLL(2)
            for (int from = 0; from < parts; from += held) {
                const auto stretch = [&](int t, int part) __attribute__((always_inline)) {
                    return (i * Row::pieces + p + t) * parts + part;
                };
                Ints sum[held][together][M][N];
                UNROLL(2)
                for (int part = from; part < from + held; ++part) {
                    UNROLL(4)
                    for (int t = 0; t < together; ++t) {
                        for (int j = 0; j < N; ++j) {
                            const Ints begin =
                                taken_off<Row> != 0 ? Ints{} + begins[j * x.group_stride + stretch(t, part)] : Ints{};
                            for (int m = 0; m < M; ++m) {
                                sum[part - from][t][m][j] = begin;
                            }
                        }
                    }
                    add_products<Row, together, M, N, in_part>(
                        [&](int m, int q) __attribute__((always_inline)) {
                            return stored_at<Row, in_registers>(PanelBlock<Row>{panel + m * apart}, p, part * in_part + q);
                        },
                        [&](const Stored<Row>& stored, int t, int q)
                            __attribute__((always_inline)) { return numbers_of<Row>(stored, p + t, part * in_part + q); },
                        [&](int t, int j, int q) __attribute__((always_inline)) {
                            return four_in_all(codes[j] + stretch(t, part) * Row::scaled + 4 * q);
                        },
                        sum[part - from]);
                }
                UNROLL(8)
                for (int k = 0; k < together * held; ++k) { // in the order of the row, as it is summed everywhere
                    const int t = k / held, part = from + k % held;
                    const int64_t s = stretch(t, part);
                    for (int m = 0; m < M; ++m) {
                        const PanelScales<Row> of_rows{{panel + m * apart}};
                        const Floats scale = of_rows.scale((p + t) * parts + part);
                        for (int j = 0; j < N; ++j) {
                            const float of_column = scales[j * x.group_stride + s * groups];
                            acc[m][j] = multiply_add(to_floats(sum[part - from][t][m][j]), scale * all(of_column), acc[m][j]);
                        }
                        if constexpr (Row::offsets) {
                            const Floats offset = of_rows.offset((p + t) * parts + part);
                            for (int j = 0; j < N; ++j) {
                                acc[m][j] = multiply_add(offset, all(of_sums[j * x.group_stride + s * groups]), acc[m][j]);
                            }
                        }
                    }
                }
            }
        }
    }
    UNROLL(2)
    for (int m = 0; m < M; ++m) { // else gcc stores sums in each round as well
        UNROLL(8)
        for (int j = 0; j < N; ++j) {
            store(out + j * out_stride + m * width, acc[m][j]);
        }
    }
}

/// With so many columns taking numbers and scales apart for each few of them is the faster still.
template <typename Row> constexpr int64_t few_columns = Row::pieces == 1 ? 128 : Row::scaled == 16 ? 16 : 8;

/// Panels that share columns. With 16 registers it pays where a piece's sums stay in 16 bits (Zen 3: Q4_0 at 178 instead of 155,
/// Q4_1 at 170 instead of 142 Gop/s).
template <typename Row> constexpr int repacked_at_once = registers == 32 || fours_in_shorts<Row> >= fours_in_piece ? 2 : 1;
constexpr int repacked_columns = width == 16 ? 6 : 4;

/// M panels times all columns, of which the first ones ask for what is read soon.
template <typename Row, int M>
inline void multiply_repacked_panels(const std::byte* panel, int64_t n, const Int8Columns& x, int64_t n_columns, float* out,
                                     int64_t out_stride) {
    const auto some = [&](auto count, int64_t j) {
        multiply_repacked_tile<Row, M, decltype(count)::value>(panel, n, x, j, j == 0, out + j * out_stride, out_stride);
    };
    int64_t j = 0;
    const auto left = [&] { return n_columns - j; };
    while (left() > repacked_columns + 2 || left() == repacked_columns) {
        some(Count<repacked_columns>{}, j);
        j += repacked_columns;
    }
    while (left() > 4) { // of 7 and 8, rather than one or two by themselves
        some(Count<4>{}, j);
        j += 4;
    }
    if (left() > 0) {
        with_count(left(), [&](auto count) { some(count, j); });
    }
}

template <typename Row>
void multiply_repacked(const std::byte* panels, int64_t n_rows, int64_t n, const Int8Columns& x, int64_t n_columns, float* out,
                       int64_t out_stride) {
    const int64_t row_bytes = n / (Row::pieces * piece) * static_cast<int64_t>(sizeof(typename Row::Block));
    if (n_columns == 1) { // one panel at a time: memory is read from its begin to its end
        const bool fetches = fetches_in_order();
        for (int64_t i = 0; i < n_rows; i += width) {
            multiply_repacked_tile<Row, 1, 1>(panels + i * row_bytes, n, x, 0, fetches, out + i, out_stride);
        }
        return;
    }
    int64_t i = 0;
    constexpr int at_once = repacked_at_once<Row>;
    for (; i + at_once * width <= n_rows; i += at_once * width) {
        multiply_repacked_panels<Row, at_once>(panels + i * row_bytes, n, x, n_columns, out + i, out_stride);
    }
    for (; i < n_rows; i += width) {
        multiply_repacked_panels<Row, 1>(panels + i * row_bytes, n, x, n_columns, out + i, out_stride);
    }
}

/// As `pack` makes it of the rows.
template <typename Row> void unfold(const std::byte* panel, int64_t n, std::byte* unfolded) {
    using Panel = PanelOf<Row>;
    constexpr int block = Row::pieces * piece, parts = piece / Row::scaled;
    constexpr int less = HasBytes<Row> && !stored_lifted<Row> ? 0 : Row::less;
    for (int64_t i = 0; i < n / block; ++i, panel += sizeof(typename Row::Block) * width) {
        const PanelScales<Row> of_rows{{panel}};
        UNROLL(8)
        for (int p = 0; p < Row::pieces; ++p) {
            Wide fours[fours_in_piece];
            UNROLL(8)
            for (int q = 0; q < fours_in_piece; ++q) {
                const Stored<Row> stored = stored_at<Row, false>(PanelBlock<Row>{panel}, p, q);
                fours[q] = reinterpret_cast<Wide>(numbers_of<Row>(stored, p, q) - static_cast<uint8_t>(less));
            }
            in_squares(fours);
            UNROLL(2)
            for (int part = 0; part < parts; ++part, unfolded += Panel::stretch * bytes) {
                Floats offset{};
                if constexpr (Row::offsets) {
                    offset = of_rows.offset(p * parts + part);
                }
                store_stretch<Panel>(fours + part * Panel::vectors, of_rows.scale(p * parts + part), offset, unfolded);
            }
        }
    }
}

template <typename Row> constexpr RepackedRows repacked_of() {
    RepackedRows ops{lay_out<Row>, take_back<Row>, multiply_repacked<Row>, nullptr, 0, taken_off<Row>, Row::scaled};
    if constexpr (fours_in_shorts<Row> == 0) { // else numbers without signs take half the instructions, however many columns
        ops.unfold = unfold<Row>;
        ops.few_columns = few_columns<Row>;
    }
    return ops;
}

} // namespace int8

} // namespace

} // namespace schedscope
