// One source, compiled for each instruction set with -DSCHEDSCOPE_ISA=portable|avx2|avx512 (CMakeLists.txt). Everything but the table is local to
// the file and no standard header's functions are called: a function that the linker shares between the three would run with the wrong instructions.

#include "runtime/backend/cpu/vector_ops.h"

#if defined(__AVX2__)
#include <immintrin.h>
#endif

#if !defined(SCHEDSCOPE_ISA)
#error "SCHEDSCOPE_ISA names the instruction set"
#endif

namespace schedscope {

namespace {

#if defined(__AVX512F__)
constexpr int64_t width = 16;
#elif defined(__AVX2__)
constexpr int64_t width = 8;
#else
constexpr int64_t width = 4;
#endif

typedef float Floats __attribute__((vector_size(width * 4)));
typedef int32_t Ints __attribute__((vector_size(width * 4)));
typedef float FloatsAt __attribute__((vector_size(width * 4), aligned(4), may_alias));

inline Floats load(const float* p) { return *reinterpret_cast<const FloatsAt*>(p); }
inline void store(float* p, Floats v) { *reinterpret_cast<FloatsAt*>(p) = v; }
inline Floats all(float x) { return Floats{} + x; }

inline float total(Floats v) {
    float sum = 0;
    for (int i = 0; i < width; ++i) {
        sum += v[i];
    }
    return sum;
}

inline float half_bits_to_float(uint16_t h) {
    const uint32_t sign = (h & 0x8000U) << 16U;
    const uint32_t magnitude = h & 0x7FFFU;
    uint32_t bits = 0;
    if (magnitude >= 0x7C00U) {
        bits = sign | 0x7F800000U | ((magnitude & 0x3FFU) << 13U);
    } else if (magnitude >= 0x400U) {
        bits = sign | ((magnitude << 13U) + 0x38000000U);
    } else {
        // A denormal half is its integer × 2^−24.
        const float value = static_cast<float>(magnitude) * 5.9604644775390625e-8F;
        return sign != 0 ? -value : value;
    }
    return __builtin_bit_cast(float, bits);
}

#if defined(__AVX512F__)
inline Floats load_half(const uint16_t* p) {
    return reinterpret_cast<Floats>(_mm512_cvtph_ps(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(p))));
}
inline void store_half(uint16_t* p, Floats v) {
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(p),
                        _mm512_cvtps_ph(reinterpret_cast<__m512>(v), _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC));
}
inline Floats load_bytes(const int8_t* p) {
    return reinterpret_cast<Floats>(
        _mm512_cvtepi32_ps(_mm512_cvtepi8_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p)))));
}
#elif defined(__AVX2__)
inline Floats load_half(const uint16_t* p) {
    return reinterpret_cast<Floats>(_mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p))));
}
inline void store_half(uint16_t* p, Floats v) {
    _mm_storeu_si128(reinterpret_cast<__m128i*>(p),
                     _mm256_cvtps_ph(reinterpret_cast<__m256>(v), _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC));
}
inline Floats load_bytes(const int8_t* p) {
    return reinterpret_cast<Floats>(
        _mm256_cvtepi32_ps(_mm256_cvtepi8_epi32(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(p)))));
}
#else
inline Floats load_half(const uint16_t* p) {
    Floats v{};
    for (int i = 0; i < width; ++i) {
        v[i] = half_bits_to_float(p[i]);
    }
    return v;
}
inline Floats load_bytes(const int8_t* p) {
    Floats v{};
    for (int i = 0; i < width; ++i) {
        v[i] = static_cast<float>(p[i]);
    }
    return v;
}
#endif

inline uint16_t float_to_half_bits(float f) {
#if defined(__AVX2__)
    return static_cast<uint16_t>(_cvtss_sh(f, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC));
#else
    const uint32_t bits = __builtin_bit_cast(uint32_t, f);
    const uint32_t sign = (bits >> 16U) & 0x8000U;
    const uint32_t magnitude = bits & 0x7FFFFFFFU;
    if (magnitude > 0x7F800000U) {
        return static_cast<uint16_t>(sign | 0x7E00U | ((magnitude >> 13U) & 0x3FFU));
    }
    if (magnitude >= 0x477FF000U) {
        return static_cast<uint16_t>(sign | 0x7C00U);
    }
    if (magnitude < 0x38800000U) {
        // Below the smallest normal half: adding 0.5 leaves the value, rounded to multiples of 2^−24, in the low bits.
        const float shifted = __builtin_bit_cast(float, magnitude) + 0.5F;
        return static_cast<uint16_t>(sign | (__builtin_bit_cast(uint32_t, shifted) - 0x3F000000U));
    }
    const uint32_t rounded = magnitude + 0xFFFU + ((magnitude >> 13U) & 1U);
    return static_cast<uint16_t>(sign | ((rounded - 0x38000000U) >> 13U));
#endif
}

/// Σ value(i) × b[i], value giving `width` floats at i; the rest one by one.
template <typename Load, typename One> inline float dot(Load value, One one, const float* b, int64_t n) {
    Floats s0{}, s1{}, s2{}, s3{};
    int64_t i = 0;
    for (; i + 4 * width <= n; i += 4 * width) {
        s0 += value(i) * load(b + i);
        s1 += value(i + width) * load(b + i + width);
        s2 += value(i + 2 * width) * load(b + i + 2 * width);
        s3 += value(i + 3 * width) * load(b + i + 3 * width);
    }
    for (; i + width <= n; i += width) {
        s0 += value(i) * load(b + i);
    }
    float sum = total((s0 + s1) + (s2 + s3));
    for (; i < n; ++i) {
        sum += one(i) * b[i];
    }
    return sum;
}

float dot_f32(const float* a, const float* b, int64_t n) {
    return dot([a](int64_t i) { return load(a + i); }, [a](int64_t i) { return a[i]; }, b, n);
}

float dot_f16(const uint16_t* a, const float* b, int64_t n) {
    return dot([a](int64_t i) { return load_half(a + i); }, [a](int64_t i) { return half_bits_to_float(a[i]); }, b, n);
}

inline float bf16_bits_to_float(uint16_t h) { return __builtin_bit_cast(float, static_cast<uint32_t>(h) << 16U); }

float dot_bf16(const uint16_t* a, const float* b, int64_t n) {
    const auto value = [a](int64_t i) {
        Ints bits{};
        for (int j = 0; j < width; ++j) {
            bits[j] = static_cast<int32_t>(static_cast<uint32_t>(a[i + j]) << 16U);
        }
        return reinterpret_cast<Floats>(bits);
    };
    return dot(
        value, [a](int64_t i) { return bf16_bits_to_float(a[i]); }, b, n);
}

struct BlockQ8 {
    uint16_t scale;
    int8_t q[32];
};
struct BlockQ4 {
    uint16_t scale;
    uint8_t q[16]; ///< element i in the low half of byte i, element i + 16 in the high half
};

float dot_q8_0(const void* row, const float* b, int64_t n) {
    const auto* blocks = static_cast<const BlockQ8*>(row);
    Floats sum{};
    for (int64_t block = 0; block < n / 32; ++block) {
        Floats part{};
        for (int64_t i = 0; i < 32; i += width) {
            part += load_bytes(blocks[block].q + i) * load(b + 32 * block + i);
        }
        sum += part * half_bits_to_float(blocks[block].scale);
    }
    return total(sum);
}

float dot_q4_0(const void* row, const float* b, int64_t n) {
    const auto* blocks = static_cast<const BlockQ4*>(row);
    Floats sum{};
    for (int64_t block = 0; block < n / 32; ++block) {
        int8_t q[32];
        for (int i = 0; i < 16; ++i) {
            q[i] = static_cast<int8_t>((blocks[block].q[i] & 0xF) - 8);
            q[i + 16] = static_cast<int8_t>((blocks[block].q[i] >> 4) - 8);
        }
        Floats part{};
        for (int64_t i = 0; i < 32; i += width) {
            part += load_bytes(q + i) * load(b + 32 * block + i);
        }
        sum += part * half_bits_to_float(blocks[block].scale);
    }
    return total(sum);
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
#if defined(__AVX2__)
    for (; i + width <= n; i += width) {
        store_half(out + i, load(in + i));
    }
#endif
    for (; i < n; ++i) {
        out[i] = float_to_half_bits(in[i]);
    }
}

/// A tile of M rows of a times N rows of b, kept in registers.
template <int M, int N>
inline void multiply_tile(const float* a, int64_t lda, const float* b, int64_t ldb, int64_t k, float* c, int64_t ldc) {
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
        for (int i = 0; i < M; ++i) {
            float sum = total(acc[i][j]);
            for (int64_t rest = l; rest < k; ++rest) {
                sum += a[i * lda + rest] * b[j * ldb + rest];
            }
            c[j * ldc + i] = sum;
        }
    }
}

#if defined(__AVX512F__)
constexpr int tile_m = 5, tile_n = 5; // 25 accumulators of 32 registers
#elif defined(__AVX2__)
constexpr int tile_m = 3, tile_n = 4; // 12 of 16
#else
constexpr int tile_m = 2, tile_n = 4;
#endif

template <int M>
inline void multiply_rows(const float* a, int64_t lda, const float* b, int64_t ldb, int64_t n, int64_t k, float* c, int64_t ldc) {
    int64_t j = 0;
    for (; j + tile_n <= n; j += tile_n) {
        multiply_tile<M, tile_n>(a, lda, b + j * ldb, ldb, k, c + j * ldc, ldc);
    }
    for (; j < n; ++j) {
        multiply_tile<M, 1>(a, lda, b + j * ldb, ldb, k, c + j * ldc, ldc);
    }
}

void multiply(const float* a, int64_t lda, int64_t m, const float* b, int64_t ldb, int64_t n, int64_t k, float* c, int64_t ldc) {
    int64_t i = 0;
    for (; i + tile_m <= m; i += tile_m) {
        multiply_rows<tile_m>(a + i * lda, lda, b, ldb, n, k, c + i, ldc);
    }
    for (; i < m; ++i) {
        multiply_rows<1>(a + i * lda, lda, b, ldb, n, k, c + i, ldc);
    }
}

double sum(const float* x, int64_t n) {
    double s = 0;
    for (int64_t i = 0; i < n;) {
        const int64_t end = n < i + 4096 ? n : i + 4096; // floats within a stretch, doubles between
        Floats part{};
        for (; i + width <= end; i += width) {
            part += load(x + i);
        }
        s += static_cast<double>(total(part));
        for (; i < end; ++i) {
            s += static_cast<double>(x[i]);
        }
    }
    return s;
}

double sum_of_squares(const float* x, int64_t n) {
    double s = 0;
    for (int64_t i = 0; i < n;) {
        const int64_t end = n < i + 1024 ? n : i + 1024;
        Floats part{};
        for (; i + width <= end; i += width) {
            const Floats v = load(x + i);
            part += v * v;
        }
        s += static_cast<double>(total(part));
        for (; i < end; ++i) {
            s += static_cast<double>(x[i]) * static_cast<double>(x[i]);
        }
    }
    return s;
}

float max(const float* x, int64_t n) {
    float m = -__builtin_inff();
    for (int64_t i = 0; i < n; ++i) {
        m = x[i] > m ? x[i] : m;
    }
    return m;
}

void add(const float* a, const float* b, float* out, int64_t n) {
    for (int64_t i = 0; i < n; ++i) {
        out[i] = a[i] + b[i];
    }
}

void multiply_elements(const float* a, const float* b, float* out, int64_t n) {
    for (int64_t i = 0; i < n; ++i) {
        out[i] = a[i] * b[i];
    }
}

void scale(const float* x, float factor, float bias, float* out, int64_t n) {
    for (int64_t i = 0; i < n; ++i) {
        out[i] = x[i] * factor + bias;
    }
}

void scale_multiply(const float* x, float factor, const float* w, float* out, int64_t n) {
    for (int64_t i = 0; i < n; ++i) {
        out[i] = x[i] * factor * w[i];
    }
}

void add_scaled(float* acc, const float* x, float factor, int64_t n) {
    for (int64_t i = 0; i < n; ++i) {
        acc[i] += x[i] * factor;
    }
}

/// e^x within 2 units in the last place: x = k ln 2 + r, a polynomial for e^r, k into the exponent. Below −87.3 it is 0, above 88.7 +∞.
inline Floats exponential(Floats x) {
    const Floats low = all(-87.33654F);
    const Floats high = all(88.72283F);
    const Floats clamped = x < low ? low : (x > high ? high : x);
    const Floats scaled = clamped * 1.44269504F;
    const Floats magic = all(12582912.0F); // 1.5 × 2^23: adding and subtracting it rounds to an integer
    const Floats k = (scaled + magic) - magic;
    Floats r = clamped - k * 0.693359375F;
    r -= k * -2.12194440e-4F;
    Floats p = all(1.9875691500e-4F);
    p = p * r + 1.3981999507e-3F;
    p = p * r + 8.3334519073e-3F;
    p = p * r + 4.1665795894e-2F;
    p = p * r + 1.6666665459e-1F;
    p = p * r + 5.0000001201e-1F;
    p = p * (r * r) + r + 1.0F;
    // 2^k in two factors, so that k = 128 does not overflow on the way.
    const Ints whole = __builtin_convertvector(k, Ints);
    const Ints half = whole >> 1;
    const Floats first = reinterpret_cast<Floats>((half + 127) << 23);
    const Floats second = reinterpret_cast<Floats>((whole - half + 127) << 23);
    const Floats value = p * first * second;
    const Floats infinite = x > high ? all(__builtin_inff()) : value;
    const Floats finished = x < low ? Floats{} : infinite;
    return x != x ? x : finished; // NaN stays
}

inline float exponential_of(float x) { return exponential(all(x))[0]; }

double exp_sum(const float* x, float shift, float* out, int64_t n) {
    double s = 0;
    int64_t i = 0;
    while (i + width <= n) {
        const int64_t end = n < i + 4096 ? n : i + 4096;
        Floats part{};
        for (; i + width <= end; i += width) {
            const Floats v = exponential(load(x + i) - shift);
            store(out + i, v);
            part += v;
        }
        s += static_cast<double>(total(part));
    }
    for (; i < n; ++i) {
        out[i] = exponential_of(x[i] - shift);
        s += static_cast<double>(out[i]);
    }
    return s;
}

void silu(const float* x, float* out, int64_t n) {
    int64_t i = 0;
    for (; i + width <= n; i += width) {
        const Floats v = load(x + i);
        store(out + i, v / (exponential(-v) + 1.0F));
    }
    for (; i < n; ++i) {
        out[i] = x[i] / (1.0F + exponential_of(-x[i]));
    }
}

} // namespace

#define SCHEDSCOPE_JOIN(a, b) a##b
#define SCHEDSCOPE_TABLE(isa) SCHEDSCOPE_JOIN(vector_ops_, isa)
#define SCHEDSCOPE_QUOTE(text) #text
#define SCHEDSCOPE_NAME(isa) SCHEDSCOPE_QUOTE(isa)

const VectorOps SCHEDSCOPE_TABLE(SCHEDSCOPE_ISA) = {
    SCHEDSCOPE_NAME(SCHEDSCOPE_ISA),
    dot_f32,
    dot_f16,
    dot_bf16,
    dot_q8_0,
    dot_q4_0,
    half_to_floats,
    floats_to_half,
    multiply,
    sum,
    sum_of_squares,
    max,
    add,
    multiply_elements,
    scale,
    scale_multiply,
    add_scaled,
    exp_sum,
    silu,
};

} // namespace schedscope
