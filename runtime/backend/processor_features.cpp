#include "runtime/backend/processor_features.h"

#if defined(__x86_64__)
#include <cpuid.h>
#elif defined(__aarch64__)
#include <asm/hwcap.h>
#include <sys/auxv.h>
#endif

namespace schedscope {

#if defined(__x86_64__)

bool has_f16c() noexcept {
    unsigned a = 0, b = 0, c = 0, d = 0;
    return __get_cpuid(1, &a, &b, &c, &d) != 0 && (c & bit_F16C) != 0;
}

/// A bit of what cpuid says of leaf 7, 1, in its first register.
static bool has_further(unsigned bit) noexcept {
    constexpr unsigned leaf = 7;
    unsigned a = 0, b = 0, c = 0, d = 0;
    return __get_cpuid_count(leaf, 1, &a, &b, &c, &d) != 0 && (a & 1U << bit) != 0;
}
bool has_avx_vnni() noexcept { return has_further(4); }
bool has_avx512_bf16() noexcept { return has_further(5); }

bool is_zen4() noexcept {
    __builtin_cpu_init();
    return __builtin_cpu_is("amdfam19h") && __builtin_cpu_supports("avx512f"); // Zen 3 is of that family, too
}

bool has_neon_dot() noexcept { return false; }
bool has_neon_i8mm() noexcept { return false; }

#else

bool has_f16c() noexcept { return false; }
bool has_avx_vnni() noexcept { return false; }
bool has_avx512_bf16() noexcept { return false; }
bool is_zen4() noexcept { return false; }

#if defined(__aarch64__)
bool has_neon_dot() noexcept { return (getauxval(AT_HWCAP) & HWCAP_ASIMDDP) != 0; }
bool has_neon_i8mm() noexcept { return (getauxval(AT_HWCAP2) & HWCAP2_I8MM) != 0; }
#else
bool has_neon_dot() noexcept { return false; }
bool has_neon_i8mm() noexcept { return false; }
#endif

#endif

} // namespace schedscope
