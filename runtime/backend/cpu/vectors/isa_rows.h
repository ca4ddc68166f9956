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

/// of(how many, first) for all m columns, most_columns at a time.
template <typename Of> inline void by_columns(int64_t m, Of of) {
    int64_t j = 0;
    for (; j + most_columns <= m; j += most_columns) {
        of(Count<most_columns>{}, j);
    }
    if (j < m) {
        with_count(m - j, [&](auto rest) { of(rest, j); });
    }
}

constexpr int together = 4; ///< rows that are multiplied at once

/// Where up to so many rows begin; of fewer the last one stands for those that are missing, so that each row's product is
/// computed in one way.
struct SomeRows {
    const std::byte* at[together];
    int64_t n;
    SomeRows(const std::byte* rows, size_t stride, int64_t n_rows) : n(n_rows < together ? n_rows : together) {
        for (int i = 0; i < together; ++i) {
            at[i] = row_at(rows, stride, i < n ? i : n - 1);
        }
    }
};

/// What the lanes make together, and what filled no stretch (blocks leave no rest).
template <typename Row>
inline void finish(const SomeRows& rows, const Floats (&s)[together], const float* x, int64_t d, float* out) {
    float sums[together];
    totals(s[0], s[1], s[2], s[3], sums);
    if constexpr (Stretches<Row>::elements == width) {
        for (int64_t rest = d / width * width; rest < d; ++rest) {
            for (int i = 0; i < together; ++i) {
                sums[i] += Stretches<Row>::one(rows.at[i], rest) * x[rest];
            }
        }
    }
    for (int64_t i = 0; i < rows.n; ++i) {
        out[i] = sums[i];
    }
}

/// How rows `ahead` further are asked for: in the order in which they lie, or each beside the one that is read.
struct RowsAhead {
    size_t stride;
    int64_t ahead;
    bool in_order; ///< which counts where few columns wait for memory
    template <typename Row, int columns> ALWAYS_INLINE void fetch_some(const SomeRows& rows, int64_t l, int64_t n) const {
        if (ahead != 0 && in_order) {
            fetch<columns>(row_at(rows.at[0], stride, ahead) + together * Stretches<Row>::bytes(l),
                           together * Stretches<Row>::bytes(n));
        } else if (ahead != 0) {
            for (const std::byte* const row : rows.at) {
                fetch<columns>(row_at(row, stride, ahead) + Stretches<Row>::bytes(l), Stretches<Row>::bytes(n));
            }
        }
    }
};

template <typename Row, int columns>
inline void multiply_some(const SomeRows& rows, const RowsAhead& ahead, const float* x, int64_t ldx, int64_t d, float* out,
                          int64_t ldo) {
    constexpr int elements = Stretches<Row>::elements, vectors = elements / width;
    Floats s[columns][together] = {};
    for (int64_t l = 0; l + elements <= d; l += elements) {
        Floats value[together][vectors];
        ahead.fetch_some<Row, columns>(rows, l, elements);
        for (int i = 0; i < together; ++i) {
            Stretches<Row>::read(rows.at[i], l, value[i]);
        }
        for (int v = 0; v < vectors; ++v) {
            for (int j = 0; j < columns; ++j) {
                const Floats column = load(x + j * ldx + l + v * width);
                for (int i = 0; i < together; ++i) {
                    s[j][i] += value[i][v] * column;
                }
            }
        }
    }
    for (int j = 0; j < columns; ++j) {
        finish<Row>(rows, s[j], x + j * ldx, d, out + j * ldo);
    }
}

/// For more columns than twice as many as numbers are read for at once a stretch of several rows is laid side by side first, as
/// floats: to make floats of halves takes as long as the products with two columns, and columns go past more rows (AVX2 on Zen 3:
/// 2,048 numbers of F16 with 32 columns at 58 instead of 39 Gflop/s).
template <typename Row> constexpr bool expands = most_columns == 2 && Stretches<Row>::elements == width;
constexpr int most_expanded_for = 64; ///< columns
constexpr int groups_expanded = 4;    ///< of `together` rows, past which the columns go once

/// s[j][i] += the products of n vectors of each row, which lie side by side, with column j's. Rows are kept in registers by name:
/// gcc reads them from memory for each column otherwise.
template <int columns>
inline void add_expanded(const Floats (*rows)[together], const float* x, int64_t ldx, int64_t n, Floats (*s)[together]) {
    static_assert(together == 4 && columns <= 2);
    Floats a0 = s[0][0], a1 = s[0][1], a2 = s[0][2], a3 = s[0][3];
    Floats b0{}, b1{}, b2{}, b3{};
    if constexpr (columns == 2) {
        b0 = s[1][0], b1 = s[1][1], b2 = s[1][2], b3 = s[1][3];
    }
    const float* y = x + ldx;
    for (int64_t l = 0; l < n; ++l, ++rows, x += width, y += width) {
        Floats r0 = (*rows)[0], r1 = (*rows)[1], r2 = (*rows)[2], r3 = (*rows)[3];
#if defined(__AVX2__)
        asm("" : "+v"(r0), "+v"(r1), "+v"(r2), "+v"(r3));
#endif
        const Floats c = load(x);
        a0 += r0 * c;
        a1 += r1 * c;
        a2 += r2 * c;
        a3 += r3 * c;
        if constexpr (columns == 2) {
            const Floats e = load(y);
            b0 += r0 * e;
            b1 += r1 * e;
            b2 += r2 * e;
            b3 += r3 * e;
        }
    }
    s[0][0] = a0, s[0][1] = a1, s[0][2] = a2, s[0][3] = a3;
    if constexpr (columns == 2) {
        s[1][0] = b0, s[1][1] = b1, s[1][2] = b2, s[1][3] = b3;
    }
}

/// Up to groups_expanded × together rows with up to most_expanded_for columns.
template <typename Row>
void multiply_expanded(const std::byte* rows, size_t stride, int64_t n_rows, const RowsAhead& ahead, const float* x, int64_t ldx,
                       int64_t m, int64_t d, float* out, int64_t ldo) {
    constexpr int64_t stretch = 256;
    const int64_t n_groups = (n_rows + together - 1) / together;
    const auto group = [=](int64_t g) { return SomeRows(row_at(rows, stride, g * together), stride, n_rows - g * together); };
    Floats s[groups_expanded][most_expanded_for][together];
    for (int64_t g = 0; g < n_groups; ++g) {
        for (int64_t j = 0; j < m; ++j) {
            for (Floats& sum : s[g][j]) {
                sum = Floats{};
            }
        }
    }
    Floats expanded[groups_expanded][stretch / width][together];
    const int64_t whole = d / width * width;
    for (int64_t l = 0; l < whole; l += stretch) {
        const int64_t n = whole - l < stretch ? whole - l : stretch;
        for (int64_t g = 0; g < n_groups; ++g) {
            const SomeRows some = group(g);
            for (int64_t at = 0; at < n; at += width) {
                ahead.fetch_some<Row, most_columns>(some, l + at, width);
                for (int i = 0; i < together; ++i) {
                    Stretches<Row>::read(some.at[i], l + at, expanded[g][at / width] + i);
                }
            }
        }
        for (int64_t j = 0; j < m; j += 2) {
            for (int64_t g = 0; g < n_groups; ++g) {
                (j + 1 < m ? add_expanded<2> : add_expanded<1>)(expanded[g], x + j * ldx + l, ldx, n / width, s[g] + j);
            }
        }
    }
    for (int64_t g = 0; g < n_groups; ++g) {
        for (int64_t j = 0; j < m; ++j) {
            finish<Row>(group(g), s[g][j], x + j * ldx, d, out + j * ldo + g * together);
        }
    }
}

template <typename Row>
void multiply_rows(const std::byte* rows, size_t stride, int64_t n, int64_t ahead, const float* x, int64_t ldx, int64_t m,
                   int64_t d, float* out, int64_t ldo) {
    const bool in_order = m <= 4 && static_cast<int64_t>(stride) == Stretches<Row>::bytes(d);
    if constexpr (expands<Row>) {
        constexpr int64_t at_once = groups_expanded * together;
        if (m > 2 * most_columns) {
            for (int64_t j = 0; j < m; j += most_expanded_for) {
                const RowsAhead of_first{stride, j == 0 ? ahead : 0, in_order};
                for (int64_t i = 0; i < n; i += at_once) {
                    multiply_expanded<Row>(row_at(rows, stride, i), stride, n - i < at_once ? n - i : at_once, of_first,
                                           x + j * ldx, ldx, m - j < most_expanded_for ? m - j : most_expanded_for, d,
                                           out + j * ldo + i, ldo);
                }
            }
            return;
        }
    }
    by_columns(m, [=](auto columns, int64_t j) {
        const RowsAhead of_first{stride, j == 0 ? ahead : 0, in_order};
        for (int64_t i = 0; i < n; i += together) {
            multiply_some<Row, decltype(columns)::value>(SomeRows(row_at(rows, stride, i), stride, n - i), of_first, x + j * ldx,
                                                         ldx, d, out + j * ldo + i, ldo);
        }
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
    by_columns(m, [=](auto columns, int64_t j) {
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
    return {multiply_rows<Row>, accumulate_rows<Row>, is_taken_apart<Row> ? most_columns : INT64_MAX};
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
