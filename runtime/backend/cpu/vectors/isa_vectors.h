// For the files that are compiled once for each instruction set with -DSCHEDSCOPE_ISA=portable|avx2|neon|… (CMakeLists.txt). Code
// asks the compiler's macros which instructions there are; SCHEDSCOPE_NEON, which aarch64's sets define, says that it is not
// portable. Everything in them but one table is local to the file, and no function of a standard or shared header is called: a
// function that the linker keeps once for all would run with the wrong instructions.
#pragma once

#include <cstdint>

#if defined(__AVX2__)
#include <immintrin.h>
#elif defined(SCHEDSCOPE_NEON)
#include <arm_neon.h>
#endif

#if !defined(SCHEDSCOPE_ISA)
#error "SCHEDSCOPE_ISA names the instruction set"
#endif

#define SCHEDSCOPE_JOIN(a, b) a##b
#define SCHEDSCOPE_TABLE(name, isa) SCHEDSCOPE_JOIN(name, isa)
#define SCHEDSCOPE_QUOTE(text) #text
#define SCHEDSCOPE_NAME(isa) SCHEDSCOPE_QUOTE(isa)

#define ALWAYS_INLINE inline __attribute__((always_inline))

/// Of the loop behind it the n rounds, one after the other. Sanitizers' checks of each take minutes to compile.
#if defined(SCHEDSCOPE_SANITIZED)
#define UNROLL(n)
#else
#define UNROLL(n) _Pragma(SCHEDSCOPE_QUOTE(GCC unroll n))
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
#if defined(__AVX512F__) || defined(__aarch64__)
constexpr int registers = 32; ///< for vectors
#else
constexpr int registers = 16;
#endif

typedef float Floats __attribute__((vector_size(width * 4)));
typedef int32_t Ints __attribute__((vector_size(width * 4)));
typedef float FloatsAt __attribute__((vector_size(width * 4), aligned(4), may_alias));

inline Floats load(const float* p) { return *reinterpret_cast<const FloatsAt*>(p); }
inline void store(float* p, Floats v) { *reinterpret_cast<FloatsAt*>(p) = v; }
inline Floats all(float x) { return x - Floats{}; } // not +: −0 would have to become 0, by an addition

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

/// A number that code is compiled for.
template <int n> struct Count { static constexpr int value = n; };
/// of(Count<n>{}) for n from 1 to 4.
template <typename Of> inline void with_count(int64_t n, Of of) {
    switch (n) {
    case 1: return of(Count<1>{});
    case 2: return of(Count<2>{});
    case 3: return of(Count<3>{});
    default: return of(Count<4>{});
    }
}

/// n < width floats, and `rest` in place of the others.
inline Floats load_some(const float* p, int64_t n, float rest) {
    float values[width];
    for (int64_t i = 0; i < width; ++i) {
        values[i] = i < n ? p[i] : rest;
    }
    return load(values);
}
inline void store_some(float* p, Floats v, int64_t n) {
    for (int64_t i = 0; i < n; ++i) {
        p[i] = v[i];
    }
}

/// The sum, halves folded onto each other.
inline float total(Floats v) {
#if defined(__AVX512F__)
    const auto eight =
        __builtin_shufflevector(v, v, 0, 1, 2, 3, 4, 5, 6, 7) + __builtin_shufflevector(v, v, 8, 9, 10, 11, 12, 13, 14, 15);
#else
    const auto eight = v;
#endif
#if defined(__AVX2__)
    const auto four = __builtin_shufflevector(eight, eight, 0, 1, 2, 3) + __builtin_shufflevector(eight, eight, 4, 5, 6, 7);
#else
    const auto four = eight;
#endif
#if defined(SCHEDSCOPE_NEON)
    return vaddvq_f32(four);
#else
    return (four[0] + four[2]) + (four[1] + four[3]);
#endif
}

/// The sums of four, at once.
inline void totals(Floats a, Floats b, Floats c, Floats d, float* out) {
#if defined(__AVX2__)
    // Neighbours are added within each 128 bits until those hold a part of all four; then the parts are.
#if defined(__AVX512F__)
    const auto pairs = [](Floats x, Floats y) {
        return __builtin_shufflevector(x, y, 0, 16, 1, 17, 4, 20, 5, 21, 8, 24, 9, 25, 12, 28, 13, 29) +
               __builtin_shufflevector(x, y, 2, 18, 3, 19, 6, 22, 7, 23, 10, 26, 11, 27, 14, 30, 15, 31);
    };
    const Floats ab = pairs(a, b), cd = pairs(c, d);
    const Floats parts = __builtin_shufflevector(ab, cd, 0, 1, 16, 17, 4, 5, 20, 21, 8, 9, 24, 25, 12, 13, 28, 29) +
                         __builtin_shufflevector(ab, cd, 2, 3, 18, 19, 6, 7, 22, 23, 10, 11, 26, 27, 14, 15, 30, 31);
    const auto eight = __builtin_shufflevector(parts, parts, 0, 1, 2, 3, 4, 5, 6, 7) +
                       __builtin_shufflevector(parts, parts, 8, 9, 10, 11, 12, 13, 14, 15);
#else
    const auto pairs = [](Floats x, Floats y) {
        return __builtin_shufflevector(x, y, 0, 8, 1, 9, 4, 12, 5, 13) +
               __builtin_shufflevector(x, y, 2, 10, 3, 11, 6, 14, 7, 15);
    };
    const Floats ab = pairs(a, b), cd = pairs(c, d);
    const auto eight =
        __builtin_shufflevector(ab, cd, 0, 1, 8, 9, 4, 5, 12, 13) + __builtin_shufflevector(ab, cd, 2, 3, 10, 11, 6, 7, 14, 15);
#endif
    const auto four = __builtin_shufflevector(eight, eight, 0, 1, 2, 3) + __builtin_shufflevector(eight, eight, 4, 5, 6, 7);
    for (int i = 0; i < 4; ++i) {
        out[i] = four[i];
    }
#elif defined(SCHEDSCOPE_NEON)
    store(out, vpaddq_f32(vpaddq_f32(a, b), vpaddq_f32(c, d)));
#else
    out[0] = total(a);
    out[1] = total(b);
    out[2] = total(c);
    out[3] = total(d);
#endif
}

inline float half_bits_to_float(uint16_t h) {
#if defined(__AVX2__)
    return _cvtsh_ss(h);
#elif defined(SCHEDSCOPE_NEON)
    return __builtin_bit_cast(__fp16, h);
#else
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
#endif
}

#if defined(__AVX512F__)
inline Floats load_half(const uint16_t* p) {
    return reinterpret_cast<Floats>(_mm512_cvtph_ps(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(p))));
}
inline void store_half(uint16_t* p, Floats v) {
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(p),
                        _mm512_cvtps_ph(reinterpret_cast<__m512>(v), _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC));
}
#elif defined(__AVX2__)
inline Floats load_half(const uint16_t* p) {
    return reinterpret_cast<Floats>(_mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p))));
}
inline void store_half(uint16_t* p, Floats v) {
    _mm_storeu_si128(reinterpret_cast<__m128i*>(p),
                     _mm256_cvtps_ph(reinterpret_cast<__m256>(v), _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC));
}
#elif defined(SCHEDSCOPE_NEON)
inline Floats load_half(const uint16_t* p) { return vcvt_f32_f16(vreinterpret_f16_u16(vld1_u16(p))); }
inline void store_half(uint16_t* p, Floats v) { vst1_u16(p, vreinterpret_u16_f16(vcvt_f16_f32(v))); }
#else
#define SCHEDSCOPE_NO_HALVES ///< no instruction reads them
inline Floats load_half(const uint16_t* p) {
    // As the low bits of a float a half is 2^112 times too small, denormals too; only infinity and NaN need their exponent.
    const Ints h = {p[0], p[1], p[2], p[3]};
    const Ints magnitude = (h & 0x7FFF) << 13;
    const Ints finite = reinterpret_cast<Ints>(reinterpret_cast<Floats>(magnitude) * 0x1p112F);
    const Ints special = magnitude >= (0x7C00 << 13);
    return reinterpret_cast<Floats>((special & (magnitude | 0x7F800000)) | (~special & finite) | ((h & 0x8000) << 16));
}
#endif

inline float bf16_bits_to_float(uint16_t h) { return __builtin_bit_cast(float, h << 16U); }

inline Floats load_bf16(const uint16_t* p) {
#if defined(__AVX512F__)
    const __m256i halves = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p));
    return reinterpret_cast<Floats>(_mm512_slli_epi32(_mm512_cvtepu16_epi32(halves), 16));
#elif defined(__AVX2__)
    const __m128i halves = _mm_loadu_si128(reinterpret_cast<const __m128i*>(p));
    return reinterpret_cast<Floats>(_mm256_slli_epi32(_mm256_cvtepu16_epi32(halves), 16));
#elif defined(SCHEDSCOPE_NEON)
    return reinterpret_cast<Floats>(vshll_n_u16(vld1_u16(p), 16));
#else
    typedef uint16_t Halves __attribute__((vector_size(width * 2), aligned(2), may_alias));
    return reinterpret_cast<Floats>(__builtin_convertvector(*reinterpret_cast<const Halves*>(p), Ints) << 16);
#endif
}

inline uint16_t float_to_half_bits(float f) {
#if defined(__AVX2__)
    return _cvtss_sh(f, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
#elif defined(SCHEDSCOPE_NEON)
    return __builtin_bit_cast(uint16_t, static_cast<__fp16>(f));
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

} // namespace

} // namespace schedscope
