#pragma once

namespace schedscope {

// What this machine's processor is, of which not every compiler's __builtin_cpu_supports knows. On other architectures: no.

bool has_f16c() noexcept;        ///< x86: halves and floats are made of each other
bool has_avx_vnni() noexcept;    ///< x86: products of bytes without AVX-512
bool has_avx512_bf16() noexcept; ///< x86: pairs of BF16 are multiplied, and rounded to
bool is_zen4() noexcept;         ///< AMD's, with AVX-512
bool has_neon_dot() noexcept;    ///< aarch64: products of four bytes with four (sdot)
bool has_neon_i8mm() noexcept;   ///< and of squares of bytes (smmla)

} // namespace schedscope
