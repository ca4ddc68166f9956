#include "runtime/backend/machine_limits.h"

#include "runtime/backend/processor_features.h"
#include "runtime/error.h"
#include "runtime/numbers.h"
#include "runtime/system/large_pages.h"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <thread>
#include <vector>

#if defined(__x86_64__)
#include <immintrin.h>
#elif defined(__aarch64__)
#include <arm_neon.h>
#endif

namespace schedscope {

namespace {

constexpr size_t least_in_all = size_t{512} << 20U, least_of_thread = size_t{128} << 20U; ///< well beyond the last cache
constexpr int64_t rounds = 500'000; ///< of multiply-adds, a few milliseconds
constexpr int repeats = 15;         ///< the best counts: others may use the machine too

/// Sum of the words of a block, so that it has to be read. n is a multiple of 32.
using Read = uint64_t (*)(const uint64_t* p, size_t n);
/// Runs `rounds` rounds and returns something that depends on all; `per_round`: multiplies and adds in each.
struct MultiplyAdd {
    float (*run)(int64_t rounds);
    double per_round;
};

uint64_t read_portable(const uint64_t* p, size_t n) {
    uint64_t s[8] = {};
    for (size_t i = 0; i < n; i += 8) {
        for (size_t j = 0; j < 8; ++j) {
            s[j] += p[i + j];
        }
    }
    return s[0] + s[1] + s[2] + s[3] + s[4] + s[5] + s[6] + s[7];
}

// Twenty-four sums of a whole register each: more than two units with four to five cycles of delay can have under way.
// Each loop over them says that it is to be taken apart: where one is left, gcc stores all of them in each round.
constexpr int chains = 24;
#if defined(__aarch64__)
constexpr int portable_chains = chains;
#else
constexpr int portable_chains = 8; // of sixteen registers
#endif

float multiply_add_portable(int64_t n) {
    typedef float Floats __attribute__((vector_size(16)));
    Floats acc[portable_chains] = {};
    Floats x = Floats{} + 0.5F;
    for (Floats& a : acc) {
        asm volatile("" : "+x"(a)); // equal sums would be computed once
    }
    asm volatile("" : "+x"(x));
    for (int64_t i = 0; i < n; ++i) {
        for (Floats& a : acc) {
            a = a * x + x;
        }
    }
    Floats sum{};
    for (const Floats& a : acc) {
        sum += a;
    }
    return sum[0];
}

/// Bytes as a processor without instructions for their products multiplies them: as numbers of 16 bits.
float multiply_bytes_portable(int64_t n) {
    typedef uint16_t Shorts __attribute__((vector_size(16)));
    Shorts acc[portable_chains] = {};
    Shorts x = Shorts{} + 3;
    for (Shorts& a : acc) {
        asm volatile("" : "+x"(a));
    }
    asm volatile("" : "+x"(x));
    for (int64_t i = 0; i < n; ++i) {
        for (Shorts& a : acc) {
            a = a * x + x;
        }
    }
    Shorts sum{};
    for (const Shorts& a : acc) {
        sum += a;
    }
    return sum[0];
}

#if defined(__x86_64__)
__attribute__((target("avx2"))) uint64_t read_avx2(const uint64_t* p, size_t n) {
    __m256i s[8] = {};
    for (size_t i = 0; i < n; i += 32) {
        for (size_t j = 0; j < 8; ++j) {
            s[j] = _mm256_add_epi64(s[j], _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p + i + 4 * j)));
        }
    }
    uint64_t sum = 0;
    for (const __m256i& v : s) {
        sum += _mm256_extract_epi64(v, 0);
    }
    return sum;
}

/// A whole line of the cache at a time: where each is asked for twice a processor waits with half as many (Zen 4 reads 19 instead
/// of 30 GB/s).
__attribute__((target("avx512f"))) uint64_t read_avx512(const uint64_t* p, size_t n) {
    __m512i s[4] = {};
    for (size_t i = 0; i < n; i += 32) {
#pragma GCC unroll 4
        for (size_t j = 0; j < 4; ++j) {
            s[j] = _mm512_add_epi64(s[j], _mm512_loadu_si512(p + i + 8 * j));
        }
    }
    uint64_t sums[8]; // gcc's function for their sum warns about itself
    _mm512_storeu_si512(sums, _mm512_add_epi64(_mm512_add_epi64(s[0], s[1]), _mm512_add_epi64(s[2], s[3])));
    return sums[0] + sums[1] + sums[2] + sums[3] + sums[4] + sums[5] + sums[6] + sums[7];
}

__attribute__((target("avx2,fma"))) float multiply_add_avx2(int64_t n) {
    __m256 acc[12] = {};
    __m256 x = _mm256_set1_ps(0.5F);
#pragma GCC unroll 12
    for (__m256& a : acc) {
        asm volatile("" : "+v"(a));
    }
    for (int64_t i = 0; i < n; ++i) {
#pragma GCC unroll 12
        for (__m256& a : acc) {
            a = _mm256_fmadd_ps(a, x, x);
        }
    }
#pragma GCC unroll 12
    for (int j = 1; j < 12; ++j) {
        acc[0] = _mm256_add_ps(acc[0], acc[j]);
    }
    return _mm256_cvtss_f32(acc[0]);
}

enum class Numbers : uint8_t { floats, pairs_of_bf16, fours_of_bytes };

/// Only the instruction for these numbers need be there beside AVX-512's first.
template <Numbers numbers> __attribute__((target("avx512f,avx512bf16,avx512vnni"))) float multiply_add_avx512(int64_t n) {
    constexpr bool floats = numbers == Numbers::floats, pairs = numbers == Numbers::pairs_of_bf16;
    __m512i acc[chains] = {};
    const __m512i x = _mm512_set1_epi32(floats ? 0x3F000000 : pairs ? 0x3F003F00 : 0x03030303); // 0.5, 0.5, 3
#pragma GCC unroll 24
    for (__m512i& a : acc) {
        asm volatile("" : "+v"(a));
    }
    for (int64_t i = 0; i < n; ++i) {
#pragma GCC unroll 24
        for (__m512i& a : acc) {
            if constexpr (floats) {
                const auto y = reinterpret_cast<__m512>(x);
                a = reinterpret_cast<__m512i>(_mm512_fmadd_ps(reinterpret_cast<__m512>(a), y, y));
            } else if constexpr (pairs) {
                const auto y = reinterpret_cast<__m512bh>(x);
                a = reinterpret_cast<__m512i>(_mm512_dpbf16_ps(reinterpret_cast<__m512>(a), y, y));
            } else {
                a = _mm512_dpbusd_epi32(a, x, x);
            }
        }
    }
#pragma GCC unroll 24
    for (int j = 1; j < chains; ++j) {
        acc[0] = _mm512_add_epi32(acc[0], acc[j]);
    }
    return static_cast<float>(_mm512_cvtsi512_si32(acc[0]));
}

/// Bytes with numbers of four bits, the fastest there are: eight pairs of products fit into 16 bits together.
__attribute__((target("avx2"))) float multiply_bytes_avx2(int64_t n) {
    constexpr int together = 8, sums = 4;
    static_assert(rounds % together == 0);
    __m256i acc[sums] = {};
    __m256i x = _mm256_set1_epi8(3);
    const __m256i ones = _mm256_set1_epi16(1);
    for (int64_t i = 0; i < n; i += together) {
        __m256i pairs[sums] = {};
#pragma GCC unroll 8
        for (int k = 0; k < together; ++k) {
#pragma GCC unroll 4
            for (__m256i& pair : pairs) {
                asm volatile("" : "+v"(x), "+v"(pair)); // the same product would be computed once, and all sums at the end
                pair = _mm256_add_epi16(pair, _mm256_maddubs_epi16(x, x));
            }
        }
#pragma GCC unroll 4
        for (int j = 0; j < sums; ++j) {
            acc[j] = _mm256_add_epi32(acc[j], _mm256_madd_epi16(pairs[j], ones));
        }
    }
    return static_cast<float>(
        _mm256_extract_epi32(_mm256_add_epi32(_mm256_add_epi32(acc[0], acc[1]), _mm256_add_epi32(acc[2], acc[3])), 0));
}

__attribute__((target("avx2,avxvnni"))) float multiply_bytes_avxvnni(int64_t n) {
    __m256i acc[12] = {};
    __m256i x = _mm256_set1_epi8(3);
#pragma GCC unroll 12
    for (__m256i& a : acc) {
        asm volatile("" : "+v"(a));
    }
    for (int64_t i = 0; i < n; ++i) {
#pragma GCC unroll 12
        for (__m256i& a : acc) {
            a = _mm256_dpbusd_avx_epi32(a, x, x);
        }
    }
#pragma GCC unroll 12
    for (int j = 1; j < 12; ++j) {
        acc[0] = _mm256_add_epi32(acc[0], acc[j]);
    }
    return static_cast<float>(_mm256_extract_epi32(acc[0], 0));
}
#elif defined(__aarch64__)
/// By fours (sdot), or by squares (smmla).
template <bool squares> __attribute__((target("arch=armv8.2-a+dotprod+i8mm"))) float multiply_bytes_neon(int64_t n) {
    int32x4_t acc[chains] = {};
    int8x16_t x = vdupq_n_s8(3);
#pragma GCC unroll 24
    for (int32x4_t& a : acc) {
        asm volatile("" : "+w"(a));
    }
    asm volatile("" : "+w"(x));
    for (int64_t i = 0; i < n; ++i) {
#pragma GCC unroll 24
        for (int32x4_t& a : acc) {
            a = squares ? vmmlaq_s32(a, x, x) : vdotq_s32(a, x, x);
        }
    }
#pragma GCC unroll 24
    for (int j = 1; j < chains; ++j) {
        acc[0] += acc[j];
    }
    return static_cast<float>(acc[0][0]);
}
#endif

/// Ways to read of which one is this processor's fastest; that is measured.
std::vector<Read> reads() {
    std::vector<Read> ways = {read_portable};
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx2")) {
        ways = {read_avx2};
    }
    if (__builtin_cpu_supports("avx512f")) {
        ways.push_back(read_avx512);
    }
#endif
    return ways;
}

/// The same of multiplying and adding.
std::vector<MultiplyAdd> multiply_adds() {
    std::vector<MultiplyAdd> ways = {{multiply_add_portable, 2.0 * portable_chains * 4}};
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) {
        ways.push_back({multiply_add_avx2, 2.0 * 12 * 8});
    }
    if (__builtin_cpu_supports("avx512f")) {
        ways.push_back({multiply_add_avx512<Numbers::floats>, 2.0 * chains * 16});
    }
#endif
    return ways;
}

/// The same of numbers of BF16, beside multiplying them as floats.
std::vector<MultiplyAdd> multiply_bf16() {
    std::vector<MultiplyAdd> ways;
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx512f") && has_avx512_bf16()) {
        ways.push_back({multiply_add_avx512<Numbers::pairs_of_bf16>, 2.0 * chains * 32});
    }
#endif
    return ways;
}

/// The same of bytes.
std::vector<MultiplyAdd> multiply_bytes() {
    std::vector<MultiplyAdd> ways = {{multiply_bytes_portable, 2.0 * portable_chains * 8}};
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx2")) {
        ways.push_back({multiply_bytes_avx2, 2.0 * 4 * 32});
    }
    if (__builtin_cpu_supports("avx2") && has_avx_vnni()) {
        ways.push_back({multiply_bytes_avxvnni, 2.0 * 12 * 32});
    }
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vnni")) {
        ways.push_back({multiply_add_avx512<Numbers::fours_of_bytes>, 2.0 * chains * 64});
    }
#elif defined(__aarch64__)
    if (has_neon_dot()) {
        ways.push_back({multiply_bytes_neon<false>, 2.0 * chains * 16});
    }
    if (has_neon_i8mm()) {
        ways.push_back({multiply_bytes_neon<true>, 2.0 * chains * 32});
    }
#endif
    return ways;
}

/// Seconds of the fastest of some repeats of work(thread) on n threads at once.
template <typename Work> double seconds(int n_threads, Work work) {
    double best = 1e30;
    for (int repeat = 0; repeat < repeats; ++repeat) {
        const auto start = std::chrono::steady_clock::now();
        {
            std::vector<std::jthread> others; // each is joined, also when there is no memory for the next
            others.reserve(n_threads);
            for (int t = 1; t < n_threads; ++t) {
                others.emplace_back(work, t);
            }
            work(0);
        }
        best = std::min(best, std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
    }
    return best;
}

} // namespace

MachineLimits measure_machine(int n_threads) {
    MachineLimits found;
    const size_t of_thread = std::max(least_in_all / n_threads, least_of_thread) & ~size_t{4095};
    const size_t words = of_thread / sizeof(uint64_t);
    std::vector<FreedBytes> memory; // as weights lie
    const auto words_of = [&](int t) { return reinterpret_cast<uint64_t*>(memory[t].get()); };
    for (int t = 0; t < n_threads; ++t) {
        memory.push_back(allocate_in_large_pages(of_thread));
        if (memory.back() == nullptr) {
            throw Error(ErrorKind::device, "CPU: no memory to measure how fast it is read");
        }
        std::fill_n(words_of(t), words, 1U); // pages exist from here on
    }
    std::vector<uint64_t> sums(n_threads);
    for (const Read read : reads()) {
        const double s = seconds(n_threads, [&](int t) { sums[t] = read(words_of(t), words); });
        found.read_bytes_per_s = std::max(found.read_bytes_per_s, to_double(of_thread) * n_threads / s);
    }
    std::vector<float> results(n_threads);
    const auto fastest = [&](const std::vector<MultiplyAdd>& ways) {
        double most = 0;
        for (const MultiplyAdd& way : ways) {
            const double s = seconds(n_threads, [&](int t) { results[t] = way.run(rounds); });
            most = std::max(most, way.per_round * rounds * n_threads / s);
        }
        return most;
    };
    found.flops = fastest(multiply_adds());
    found.bf16_flops = std::max(found.flops, fastest(multiply_bf16()));
    found.int8_ops = fastest(multiply_bytes());
    volatile double used = results[0] + to_double(sums[0]);
    static_cast<void>(used);
    return found;
}

const MachineLimits& machine_limits(int n_threads) {
    constexpr int most = 256;
    static std::vector<MachineLimits> known(most + 1);
    n_threads = std::min(n_threads, most);
    MachineLimits& m = known[n_threads];
    if (m.flops == 0) {
        m = measure_machine(n_threads);
    }
    return m;
}

} // namespace schedscope
