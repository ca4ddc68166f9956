// Products of matrices in tiles that stay in registers: what vector_ops.h says of multiply, accumulate and transpose. Compiled
// once for each instruction set.
#pragma once

#include "runtime/backend/cpu/vectors/isa_vectors.h"

#include <utility>

namespace schedscope {

namespace {

/// A tile of M rows of a times N rows of b: vectors along k, summed at the end.
template <int M, int N>
void multiply_tile(const float* a, int64_t lda, const float* b, int64_t ldb, int64_t k, float* c, int64_t ldc) {
    Floats acc[M][N] = {};
    int64_t l = 0;
    for (; l + width <= k; l += width) {
        Floats x[M];
        for (int i = 0; i < M; ++i) {
            x[i] = load(a + i * lda + l);
        }
        for (int j = 0; j < N; ++j) {
            const Floats y = load(b + j * ldb + l);
            for (int i = 0; i < M; ++i) {
                acc[i][j] += x[i] * y;
            }
        }
    }
    for (int j = 0; j < N; ++j) {
        float* const sums = c + j * ldc;
        constexpr int fours = M / 4 * 4;
        for (int i = 0; i < fours; i += 4) {
            totals(acc[i][j], acc[i + 1][j], acc[i + 2][j], acc[i + 3][j], sums + i);
        }
        for (int i = fours; i < M; ++i) {
            sums[i] = total(acc[i][j]);
        }
        for (int64_t rest = l; rest < k; ++rest) {
            for (int i = 0; i < M; ++i) {
                sums[i] += a[i * lda + rest] * b[j * ldb + rest];
            }
        }
    }
}

/// A tile of N rows of c, M vectors wide: rows of a, each weighted by one number of b per row of c.
template <int M, int N>
void accumulate_tile(const float* a, int64_t lda, const float* b, int64_t ldb, int64_t k, float* c, int64_t ldc) {
    Floats acc[N][M];
    for (int j = 0; j < N; ++j) {
        for (int i = 0; i < M; ++i) {
            acc[j][i] = load(c + j * ldc + i * width);
        }
    }
    for (int64_t l = 0; l < k; ++l) {
        Floats x[M];
        for (int i = 0; i < M; ++i) {
            x[i] = load(a + l * lda + i * width);
        }
        for (int j = 0; j < N; ++j) {
            const Floats weight = all(b[j * ldb + l]);
            for (int i = 0; i < M; ++i) {
                acc[j][i] += weight * x[i];
            }
        }
    }
    for (int j = 0; j < N; ++j) {
        for (int i = 0; i < M; ++i) {
            store(c + j * ldc + i * width, acc[j][i]);
        }
    }
}

// Tiles by what the registers hold: 32 of AVX-512, and of aarch64, where all that is multiplied is in one; 16 otherwise.
#if defined(__AVX512F__)
constexpr int multiply_m = 5, multiply_n = 5;
constexpr int accumulate_m = 4, accumulate_n = 6;
#elif defined(__AVX2__)
constexpr int multiply_m = 3, multiply_n = 4;
constexpr int accumulate_m = 2, accumulate_n = 6;
#elif defined(__aarch64__)
constexpr int multiply_m = 4, multiply_n = 5;
constexpr int accumulate_m = 4, accumulate_n = 5;
#else
constexpr int multiply_m = 2, multiply_n = 4;
constexpr int accumulate_m = 2, accumulate_n = 4;
#endif

using Tile = void(const float* a, int64_t lda, const float* b, int64_t ldb, int64_t k, float* c, int64_t ldc);

/// 0 … most − 2: of what is smaller than `most`, one less.
template <int most> using Smaller = std::make_integer_sequence<int, most - 1>;

/// n rows of b and c in tiles of N, the rest in one smaller tile.
template <template <int> typename Of, int N, int... smaller>
inline void over_rows(const float* a, int64_t lda, const float* b, int64_t ldb, int64_t n, int64_t k, float* c, int64_t ldc,
                      std::integer_sequence<int, smaller...> /*Smaller<N>*/) {
    int64_t j = 0;
    for (; j + N <= n; j += N) {
        Of<N>::run(a, lda, b + j * ldb, ldb, k, c + j * ldc, ldc);
    }
    Tile* const rest[] = {Of<smaller + 1>::run...};
    if (j < n) {
        rest[n - j - 1](a, lda, b + j * ldb, ldb, k, c + j * ldc, ldc);
    }
}

template <int M> struct MultiplyRows {
    template <int N> struct Of { static constexpr Tile* run = multiply_tile<M, N>; };
    static void over(const float* a, int64_t lda, const float* b, int64_t ldb, int64_t n, int64_t k, float* c, int64_t ldc) {
        over_rows<Of, multiply_n>(a, lda, b, ldb, n, k, c, ldc, Smaller<multiply_n>{});
    }
};

template <int M> struct AccumulateColumns {
    template <int N> struct Of { static constexpr Tile* run = accumulate_tile<M, N>; };
    static void over(const float* a, int64_t lda, const float* b, int64_t ldb, int64_t n, int64_t k, float* c, int64_t ldc) {
        over_rows<Of, accumulate_n>(a, lda, b, ldb, n, k, c, ldc, Smaller<accumulate_n>{});
    }
};

using RowsTile = void(const float* a, int64_t lda, const float* b, int64_t ldb, int64_t n, int64_t k, float* c, int64_t ldc);

/// Fewer rows of a than a tile has, with all of b.
template <int... smaller>
inline void multiply_fewer(const float* a, int64_t lda, int64_t m, const float* b, int64_t ldb, int64_t n, int64_t k, float* c,
                           int64_t ldc, std::integer_sequence<int, smaller...> /*Smaller<multiply_m>*/) {
    RowsTile* const rows[] = {MultiplyRows<smaller + 1>::over...};
    rows[m - 1](a, lda, b, ldb, n, k, c, ldc);
}

void multiply(const float* a, int64_t lda, int64_t m, const float* b, int64_t ldb, int64_t n, int64_t k, float* c, int64_t ldc) {
    int64_t i = 0;
    for (; i + multiply_m <= m; i += multiply_m) {
        MultiplyRows<multiply_m>::over(a + i * lda, lda, b, ldb, n, k, c + i, ldc);
    }
    if (i < m) {
        multiply_fewer(a + i * lda, lda, m - i, b, ldb, n, k, c + i, ldc, Smaller<multiply_m>{});
    }
}

void accumulate(const float* a, int64_t lda, int64_t m, const float* b, int64_t ldb, int64_t n, int64_t k, float* c,
                int64_t ldc) {
    int64_t i = 0;
    for (; i + accumulate_m * width <= m; i += accumulate_m * width) {
        AccumulateColumns<accumulate_m>::over(a + i, lda, b, ldb, n, k, c + i, ldc);
    }
    for (; i + width <= m; i += width) {
        AccumulateColumns<1>::over(a + i, lda, b, ldb, n, k, c + i, ldc);
    }
    for (; i < m; ++i) {
        for (int64_t j = 0; j < n; ++j) {
            float sum = 0;
            for (int64_t l = 0; l < k; ++l) {
                sum += b[j * ldb + l] * a[l * lda + i];
            }
            c[j * ldc + i] += sum;
        }
    }
}

/// Exchanges blocks of S numbers between two vectors: what is S apart in the one, and the two apart, changes places.
template <int S, int... I> inline void exchange(Floats& a, Floats& b, std::integer_sequence<int, I...> /*lanes*/) {
    const Floats x = a, y = b;
    a = __builtin_shufflevector(x, y, ((I & S) != 0 ? width + I - S : I)...);
    b = __builtin_shufflevector(x, y, ((I & S) != 0 ? width + I : I + S)...);
}

/// A square of vectors to its transpose, in blocks of S numbers and less.
template <int S> inline void transpose_square(Floats (&v)[width]) {
    UNROLL(16)
    for (int i = 0; i < width; ++i) {
        if ((i & S) == 0) {
            exchange<S>(v[i], v[i + S], std::make_integer_sequence<int, width>{});
        }
    }
    if constexpr (S > 1) {
        transpose_square<S / 2>(v);
    }
}

void transpose(const float* in, int64_t ldi, int64_t m, int64_t n, float* out, int64_t ldo) {
    int64_t i = 0;
    for (; i + width <= m; i += width) {
        int64_t l = 0;
        for (; l + width <= n; l += width) {
            Floats v[width];
            UNROLL(16)
            for (int r = 0; r < width; ++r) {
                v[r] = load(in + (i + r) * ldi + l);
            }
            transpose_square<width / 2>(v);
            UNROLL(16)
            for (int r = 0; r < width; ++r) {
                store(out + (l + r) * ldo + i, v[r]);
            }
        }
        for (; l < n; ++l) {
            for (int r = 0; r < width; ++r) {
                out[l * ldo + i + r] = in[(i + r) * ldi + l];
            }
        }
    }
    for (; i < m; ++i) {
        for (int64_t l = 0; l < n; ++l) {
            out[l * ldo + i] = in[i * ldi + l];
        }
    }
}

} // namespace

} // namespace schedscope
