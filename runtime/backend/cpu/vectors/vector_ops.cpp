#include "runtime/backend/cpu/vectors/vector_ops.h"

#include "runtime/backend/machine_limits.h"

#include <cstdlib>
#include <vector>

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

bool fetches_in_order() noexcept {
#if defined(__x86_64__)
    static const bool is_zen4 = [] {
        __builtin_cpu_init();
        return __builtin_cpu_is("amdfam19h") && __builtin_cpu_supports("avx512f"); // Zen 3 is of that family, too
    }();
    return !is_zen4;
#else
    return true;
#endif
}

std::span<const VectorOps* const> usable_vector_ops() noexcept {
    static const std::vector<const VectorOps*> usable = [] {
        std::vector<const VectorOps*> all{&vector_ops_portable};
        [[maybe_unused]] const auto add = [&all](bool can, const VectorOps& ops) {
            if (can) {
                all.push_back(&ops);
            }
        };
#if defined(__x86_64__)
        __builtin_cpu_init();
        const bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && has_f16c();
        const bool avx512 = avx2 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                            __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq");
        add(avx2, vector_ops_avx2);
        add(avx2 && has_avx_vnni(), vector_ops_avxvnni);
        add(avx512, vector_ops_avx512);
        add(avx512 && __builtin_cpu_supports("avx512vnni"), vector_ops_avx512vnni);
#elif defined(__aarch64__)
        add(true, vector_ops_neon);
        add(has_neon_dot(), vector_ops_neon_dot);
        add(has_neon_dot() && has_neon_i8mm(), vector_ops_neon_i8mm);
#endif
        return all;
    }();
    return usable;
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
