#include "runtime/backend/cpu/vectors/vector_ops.h"

#include <array>
#include <cstdlib>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace schedscope {

#if defined(__x86_64__)
namespace {

/// Not every compiler's __builtin_cpu_supports knows it.
bool has_f16c() noexcept {
    unsigned a = 0, b = 0, c = 0, d = 0;
    return __get_cpuid(1, &a, &b, &c, &d) != 0 && (c & bit_F16C) != 0;
}

} // namespace
#endif

std::span<const VectorOps* const> usable_vector_ops() noexcept {
#if defined(__x86_64__)
    static const std::array<const VectorOps*, 3> all = {&vector_ops_portable, &vector_ops_avx2, &vector_ops_avx512};
    static const size_t n = [] {
        __builtin_cpu_init();
        const bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && has_f16c();
        const bool avx512 = avx2 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                            __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq");
        return avx512 ? 3U : avx2 ? 2U : 1U;
    }();
#else
    static const std::array<const VectorOps*, 1> all = {&vector_ops_portable};
    static const size_t n = 1;
#endif
    return std::span(all).first(n);
}

const VectorOps& best_vector_ops() noexcept {
    const auto usable = usable_vector_ops();
    if (const char* wanted = std::getenv("SCHEDSCOPE_CPU")) {
        for (const VectorOps* ops : usable) {
            if (ops->name == wanted) {
                return *ops;
            }
        }
    }
    return *usable.back();
}

} // namespace schedscope
