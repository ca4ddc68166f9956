// Products of matrices in tiles that stay in registers: what vector_ops.h says of accumulate and transpose. Compiled once for
// each instruction set.
#pragma once

#include "runtime/backend/cpu/vectors/isa_vectors.h"

#include <utility>

namespace schedscope {

namespace {

/// A tile of N rows of c, M vectors wide: rows of a, each weighted by one number of b per row of c.
template <int M, int N>
void accumulate_tile(const float* a, int64_t lda, const float* b, int64_t ldb, int64_t k, float* c, int64_t ldc) {
    Floats acc[N][M];
    for (int j = 0; j < N; ++j) {
        for (int i = 0; i < M; ++i) {
            acc[j][i] = load(c + j * ldc + i * width);
        }
    }
    for (int64_t begin = 0; begin < k; begin += width) {
        for (int j = 0; j < N; ++j) { // of the next tile; such short stretches of memory aren't foreseen
            __builtin_prefetch(b + (N + j) * ldb + begin);
        }
        const int64_t end = k - begin < width ? k : begin + width;
        for (int64_t l = begin; l < end; ++l) {
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
    }
    for (int j = 0; j < N; ++j) {
        for (int i = 0; i < M; ++i) {
            store(c + j * ldc + i * width, acc[j][i]);
        }
    }
}

// Tiles by what the registers hold: 32 of AVX-512, and of aarch64, where all that is multiplied is in one; 16 otherwise.
#if defined(__AVX512F__)
constexpr int tile_vectors = 4, tile_columns = 6;
#elif defined(__AVX2__)
constexpr int tile_vectors = 2, tile_columns = 6;
#elif defined(__aarch64__)
constexpr int tile_vectors = 4, tile_columns = 5;
#else
constexpr int tile_vectors = 2, tile_columns = 6;
#endif

constexpr int64_t tile_rows = tile_vectors * width;

using Tile = void(const float* a, int64_t lda, const float* b, int64_t ldb, int64_t k, float* c, int64_t ldc);

/// n rows of b and c in tiles of tile_columns, the rest in one smaller tile. fewer: 0 … tile_columns − 2.
template <int M, int... fewer>
inline void accumulate_tiles(const float* a, int64_t lda, const float* b, int64_t ldb, int64_t n, int64_t k, float* c,
                             int64_t ldc, std::integer_sequence<int, fewer...> /*sizes*/) {
    int64_t j = 0;
    for (; j + tile_columns <= n; j += tile_columns) {
        accumulate_tile<M, tile_columns>(a, lda, b + j * ldb, ldb, k, c + j * ldc, ldc);
    }
    if (j < n) {
        static constexpr Tile* rest[] = {accumulate_tile<M, fewer + 1>...};
        rest[n - j - 1](a, lda, b + j * ldb, ldb, k, c + j * ldc, ldc);
    }
}

void accumulate(const float* a, int64_t lda, int64_t m, const float* b, int64_t ldb, int64_t n, int64_t k, float* c,
                int64_t ldc) {
    const std::make_integer_sequence<int, tile_columns - 1> fewer;
    int64_t i = 0;
    for (; i + tile_rows <= m; i += tile_rows) {
        accumulate_tiles<tile_vectors>(a + i, lda, b, ldb, n, k, c + i, ldc, fewer);
    }
    for (; i + width <= m; i += width) {
        accumulate_tiles<1>(a + i, lda, b, ldb, n, k, c + i, ldc, fewer);
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
