// Products of rows of floats or blocks of 32 that lie where they are with few columns of floats: what vector_ops.h says of
// RowOps, and rows read as floats. For the files that are compiled once for each instruction set.
#pragma once

#include "runtime/backend/cpu/vectors/isa_blocks.h"
#include "runtime/backend/cpu/vectors/vector_ops.h"

namespace schedscope {

namespace {

/// Neighbours.
struct Two {
    Floats low, high;
};
#if defined(__AVX512F__)
/// Halves are read a whole line of the cache at a time: with two reads of each line what a processor waits with is full twice as
/// soon (Zen 4 then reads 15 instead of 27 GB/s).
template <typename Half> ALWAYS_INLINE Two two_of(const uint16_t* p, Half floats) {
    const __m512i both = _mm512_loadu_si512(p);
    return {reinterpret_cast<Floats>(floats(_mm512_castsi512_si256(both))),
            reinterpret_cast<Floats>(floats(_mm512_extracti64x4_epi64(both, 1)))};
}
#endif

// How rows of a type are read: `width` numbers, twice as many, or one.
struct RowF32 {
    using Element = float;
    static Floats vector(const Element* p) { return load(p); }
    static ALWAYS_INLINE Two two(const Element* p) { return {load(p), load(p + width)}; }
    static float one(Element x) { return x; }
};
struct RowF16 {
    using Element = uint16_t;
    static Floats vector(const Element* p) { return load_half(p); }
    static ALWAYS_INLINE Two two(const Element* p) {
#if defined(__AVX512F__)
        return two_of(
            p, [](__m256i half) __attribute__((always_inline)) { return _mm512_cvtph_ps(half); });
#else
        return {load_half(p), load_half(p + width)};
#endif
    }
    static float one(Element x) { return half_bits_to_float(x); }
};
struct RowBF16 {
    using Element = uint16_t;
    static Floats vector(const Element* p) { return load_bf16(p); }
    static ALWAYS_INLINE Two two(const Element* p) {
#if defined(__AVX512F__)
        return two_of(
            p, [](__m256i half) __attribute__((always_inline)) { return _mm512_slli_epi32(_mm512_cvtepu16_epi32(half), 16); });
#else
        return {load_bf16(p), load_bf16(p + width)};
#endif
    }
    static float one(Element x) { return bf16_bits_to_float(x); }
};

/// A row of either kind, `elements` numbers at a time: floats, or blocks of 32 (isa_blocks.h).
template <typename Row> struct Stretches {
    using Element = typename Row::Element;
    static constexpr int elements = width;
    static constexpr int64_t bytes(int64_t n) { return n * static_cast<int64_t>(sizeof(Element)); }
    /// From number l (a multiple of `elements`) on.
    static ALWAYS_INLINE void read(const std::byte* row, int64_t l, Floats* out) {
        Floats v = Row::vector(reinterpret_cast<const Element*>(row) + l);
#if defined(__AVX2__)
        asm("" : "+v"(v)); // else gcc reads floats from memory for each column
#endif
        out[0] = v;
    }
    static float one(const std::byte* row, int64_t l) { return Row::one(reinterpret_cast<const Element*>(row)[l]); }
};
template <typename Row>
requires requires { typename Row::Block; }
struct Stretches<Row> {
    static constexpr int elements = piece;
    static constexpr int64_t bytes(int64_t n) { return n / piece * static_cast<int64_t>(sizeof(typename Row::Block)); }
    static ALWAYS_INLINE void read(const std::byte* row, int64_t l, Floats* out) {
        each_vector<Row>(
            reinterpret_cast<const typename Row::Block*>(row)[l / piece], [&](int at, Floats w) __attribute__((always_inline)) {
                out[at / width] = w;
            });
    }
};

template <typename Row> float dot(const typename Row::Element* a, const float* b, int64_t n) {
    Floats s0{}, s1{}, s2{}, s3{};
    int64_t i = 0;
    for (; i + 4 * width <= n; i += 4 * width) {
        const Two first = Row::two(a + i), second = Row::two(a + i + 2 * width);
        s0 += first.low * load(b + i);
        s1 += first.high * load(b + i + width);
        s2 += second.low * load(b + i + 2 * width);
        s3 += second.high * load(b + i + 3 * width);
    }
    for (; i + width <= n; i += width) {
        s0 += Row::vector(a + i) * load(b + i);
    }
    float sum = total((s0 + s1) + (s2 + s3));
    for (; i < n; ++i) {
        sum += Row::one(a[i]) * b[i];
    }
    return sum;
}

void half_to_floats(const uint16_t* in, float* out, int64_t n) {
    int64_t i = 0;
    for (; i + width <= n; i += width) {
        store(out + i, load_half(in + i));
    }
    for (; i < n; ++i) {
        out[i] = half_bits_to_float(in[i]);
    }
}

void floats_to_half(const float* in, uint16_t* out, int64_t n) {
    int64_t i = 0;
#if defined(__AVX2__) || defined(SCHEDSCOPE_NEON)
    for (; i + width <= n; i += width) {
        store_half(out + i, load(in + i));
    }
#endif
    for (; i < n; ++i) {
        out[i] = float_to_half_bits(in[i]);
    }
}

inline const std::byte* row_at(const std::byte* rows, size_t stride, int64_t row) {
    return rows + stride * static_cast<size_t>(row);
}

/// Columns whose sums, four of each, fit into registers.
constexpr int most_columns = width == 16 ? 4 : 2;

/// of(how many, first) for all m columns, `most` at a time, up to four.
template <int most, typename Of> inline void by_columns(int64_t m, Of of) {
    int64_t j = 0;
    for (; j + most <= m; j += most) {
        of(Count<most>{}, j);
    }
    if (j < m) {
        with_count(m - j, [&](auto rest) { of(rest, j); });
    }
}

/// Where R rows begin; of fewer the last one stands for those that are missing, so that each row's product is computed in one
/// way.
template <int R> struct RowsAtOnce {
    const std::byte* at[R];
    int64_t n;
    RowsAtOnce(const std::byte* rows, size_t stride, int64_t n_rows) : n(n_rows < R ? n_rows : R) {
        for (int i = 0; i < R; ++i) {
            at[i] = row_at(rows, stride, i < n ? i : n - 1);
        }
    }
};

/// The numbers from l to the last, less than a vector's, and zeros.
template <typename Row> inline Floats rest_of(const std::byte* row, int64_t l, int64_t d) {
    Floats v{};
    for (int64_t i = 0; l + i < d; ++i) {
        v[i] = Stretches<Row>::one(row, l + i);
    }
    return v;
}

/// With what filled no stretch (blocks leave no rest) what the lanes make together.
template <typename Row, int R>
inline void finish(const RowsAtOnce<R>& rows, Floats (&s)[R], const float* x, int64_t d, float* out) {
    constexpr int in_fours = (R + 3) / 4 * 4;
    if constexpr (Stretches<Row>::elements == width) {
        if (const int64_t l = d / width * width; l < d) {
            const Floats column = load_some(x + l, d - l, 0.0F);
            for (int i = 0; i < R; ++i) {
                s[i] = multiply_add(rest_of<Row>(rows.at[i], l, d), column, s[i]);
            }
        }
    }
    float sums[in_fours];
    for (int i = 0; i < in_fours; i += 4) {
        const auto of = [&](int k) __attribute__((always_inline)) { return i + k < R ? s[i + k] : Floats{}; };
        totals(of(0), of(1), of(2), of(3), sums + i);
    }
    for (int64_t i = 0; i < rows.n; ++i) {
        out[i] = sums[i];
    }
}

/// How rows `ahead` further are asked for: in the order in which they lie, or each beside the one that is read.
struct RowsAhead {
    size_t stride;
    int64_t ahead; ///< 0: not at all
    bool in_order; ///< which counts where few columns wait for memory
    template <typename Row, int columns, int R>
    ALWAYS_INLINE void fetch_some(const RowsAtOnce<R>& rows, int64_t l, int64_t n) const {
        if (ahead != 0 && in_order) {
            fetch<columns>(row_at(rows.at[0], stride, ahead) + R * Stretches<Row>::bytes(l), R * Stretches<Row>::bytes(n));
        } else if (ahead != 0) {
            for (const std::byte* const row : rows.at) {
                fetch<columns>(row_at(row, stride, ahead) + Stretches<Row>::bytes(l), Stretches<Row>::bytes(n));
            }
        }
    }
};

/// A function of its own: inlined into loops gcc keeps sums in memory.
template <typename Row, int R, int columns>
__attribute__((noinline)) void multiply_some(const RowsAtOnce<R>& rows, const RowsAhead& ahead, const float* x, int64_t ldx,
                                             int64_t d, float* out, int64_t ldo) {
    constexpr int elements = Stretches<Row>::elements, vectors = elements / width;
    Floats s[columns][R] = {};
    for (int64_t l = 0; l + elements <= d; l += elements) {
        Floats value[R][vectors];
        ahead.fetch_some<Row, columns>(rows, l, elements);
        for (int i = 0; i < R; ++i) {
            Stretches<Row>::read(rows.at[i], l, value[i]);
        }
        for (int v = 0; v < vectors; ++v) {
            for (int j = 0; j < columns; ++j) {
                const Floats column = load(x + j * ldx + l + v * width);
                for (int i = 0; i < R; ++i) {
                    s[j][i] = multiply_add(value[i][v], column, s[j][i]);
                }
            }
        }
    }
    for (int j = 0; j < columns; ++j) {
        finish<Row>(rows, s[j], x + j * ldx, d, out + j * ldo);
    }
}

/// All n rows with some columns.
template <typename Row, int R, int columns>
inline void multiply_by_rows(const std::byte* rows, int64_t n, const RowsAhead& ahead, const float* x, int64_t ldx, int64_t d,
                             float* out, int64_t ldo) {
    for (int64_t i = 0; i < n; i += R) {
        multiply_some<Row, R, columns>(RowsAtOnce<R>(row_at(rows, ahead.stride, i), ahead.stride, n - i), ahead, x, ldx, d,
                                       out + i, ldo);
    }
}

/// Floats with 16 registers: the sums of three rows and four columns leave room for the rows and a column. Halves are made floats
/// half as often then as with four rows and two columns, which takes as long as these products do (AVX2 on Zen 3: 4 columns
/// with 2,048 numbers of F16 at 37 instead of 27 Gflop/s, 16 at 42 instead of 32).
template <typename Row> constexpr bool in_few_registers = registers == 16 && Stretches<Row>::elements == width;
/// Rows as long as this are read the faster by themselves, eight at once, without being asked for: of F16 at 10.3 instead of 8.9
/// GB/s where the limit is 12 (Zen 3). Of shorter ones the processor does not see ahead.
constexpr size_t long_row = 4096;
constexpr int long_rows = 8;
/// Of which tiles of 3, 4 and 8 leave no rest.
constexpr int64_t rows_passed_by = 24;

template <typename Row>
void multiply_rows(const std::byte* rows, size_t stride, int64_t n, int64_t ahead, const float* x, int64_t ldx, int64_t m,
                   int64_t d, float* out, int64_t ldo) {
    const bool in_order = m <= 4 && static_cast<int64_t>(stride) == Stretches<Row>::bytes(d);
    constexpr bool few = in_few_registers<Row>;
    if constexpr (few) {
        if (m == 1 && in_order && stride >= long_row) {
            return multiply_by_rows<Row, long_rows, 1>(rows, n, {stride, 0, true}, x, ldx, d, out, ldo);
        }
    }
    by_columns<few ? 4 : most_columns>(m, [=](auto columns, int64_t j) {
        constexpr int count = decltype(columns)::value, at_once = few && count > 2 ? 3 : 4;
        multiply_by_rows<Row, at_once, count>(rows, n, {stride, j == 0 ? ahead : 0, in_order}, x + j * ldx, ldx, d, out + j * ldo,
                                              ldo);
    });
}

/// `vectors` vectors of all rows: what the columns have summed of them stays in registers.
template <typename Row, int columns, int vectors>
inline void accumulate_some(const std::byte* rows, size_t stride, int64_t n, int64_t ahead, const float* w, int64_t ldw,
                            int64_t at, float* sums, int64_t lds) {
    Floats s[columns][vectors];
    for (int j = 0; j < columns; ++j) {
        for (int v = 0; v < vectors; ++v) {
            s[j][v] = load(sums + j * lds + at + v * width);
        }
    }
    constexpr int elements = Stretches<Row>::elements;
    for (int64_t i = 0; i < n; ++i) {
        if (ahead != 0) {
            fetch(row_at(rows, stride, i + ahead) + Stretches<Row>::bytes(at), Stretches<Row>::bytes(vectors * width));
        }
        Floats value[vectors];
        for (int v = 0; v < vectors; v += elements / width) {
            Stretches<Row>::read(row_at(rows, stride, i), at + v * width, value + v);
        }
        for (int j = 0; j < columns; ++j) {
            const Floats weight = all(w[j * ldw + i]);
            for (int v = 0; v < vectors; ++v) {
                s[j][v] += weight * value[v];
            }
        }
    }
    for (int j = 0; j < columns; ++j) {
        for (int v = 0; v < vectors; ++v) {
            store(sums + j * lds + at + v * width, s[j][v]);
        }
    }
}

template <typename Row>
void accumulate_rows(const std::byte* rows, size_t stride, int64_t n, int64_t ahead, const float* w, int64_t ldw, int64_t m,
                     int64_t d, float* sums, int64_t lds) {
    by_columns<most_columns>(m, [=](auto columns, int64_t j) {
        constexpr int count = decltype(columns)::value;
        constexpr int elements = Stretches<Row>::elements, least = elements / width;
        constexpr int vectors = least > 4 ? least : 4;
        const int64_t fetched = j == 0 ? ahead : 0;
        const float* const weights = w + j * ldw;
        float* const to = sums + j * lds;
        int64_t l = 0;
        for (; l + vectors * width <= d; l += vectors * width) {
            accumulate_some<Row, count, vectors>(rows, stride, n, fetched, weights, ldw, l, to, lds);
        }
        for (; l + elements <= d; l += elements) {
            accumulate_some<Row, count, least>(rows, stride, n, fetched, weights, ldw, l, to, lds);
        }
        if constexpr (elements == width) {
            for (; l < d; ++l) {
                for (int64_t i = 0; i < n; ++i) {
                    const float value = Stretches<Row>::one(row_at(rows, stride, i), l);
                    for (int c = 0; c < count; ++c) {
                        to[c * lds + l] += weights[c * ldw + i] * value;
                    }
                }
            }
        }
    });
}

template <typename Row> constexpr bool is_taken_apart = Stretches<Row>::elements != width;
#ifdef SCHEDSCOPE_NO_HALVES
template <> constexpr bool is_taken_apart<RowF16> = true;
#endif
template <typename Row> constexpr RowOps row_ops_of() {
    return {multiply_rows<Row>, accumulate_rows<Row>, is_taken_apart<Row> ? most_columns : INT64_MAX,
            in_few_registers<Row> ? rows_passed_by : 8};
}

const RowOps row_ops[n_types] = {
    row_ops_of<RowF32>(),
    row_ops_of<RowF16>(),
    row_ops_of<RowBF16>(),
    {}, // I8
    {}, // I16
    {}, // I32
    {}, // I64
    {}, // F64
    row_ops_of<RowQ4_0>(),
    row_ops_of<RowQ4_1>(),
    row_ops_of<RowQ5_0>(),
    row_ops_of<RowQ5_1>(),
    row_ops_of<RowQ8_0>(),
    {}, // Q2_K
    {}, // Q3_K
    {}, // Q4_K
    {}, // Q5_K
    {}, // Q6_K
    row_ops_of<RowIQ4_NL>(),
    {}, // IQ4_XS
    {}, // MXFP4
    {}, // TQ1_0
    {}, // TQ2_0
    {}, // IQ1_S
    {}, // IQ1_M
    {}, // IQ2_XXS
    {}, // IQ2_XS
    {}, // IQ2_S
    {}, // IQ3_XXS
    {}, // IQ3_S
};
static_assert(ordinal(Type::F32) == 0 && ordinal(Type::BF16) == 2 && ordinal(Type::Q4_0) == 8 && ordinal(Type::Q8_0) == 12 &&
                  ordinal(Type::IQ4_NL) == 18,
              "the table is in the order of the types");

} // namespace

} // namespace schedscope
