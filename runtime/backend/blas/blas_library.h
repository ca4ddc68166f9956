#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace schedscope {

/// OpenBLAS, loaded when the program runs: it works without.
class BlasLibrary {
public:
    /// The one library; null (and why in `missing`) when it is not there.
    static const BlasLibrary* load(std::string& missing);

    /// C = A × Bᵀ of row-major floats: c [m × n, rows ldc apart], a [m × k], b [n × k]. Several threads may call it at once.
    void multiply(int m, int n, int k, const float* a, int lda, const float* b, int ldb, float* c, int ldc) const;
    void set_threads(int n) const;
    std::string description() const; ///< "OpenBLAS 0.3.21 … Zen"
    std::string core() const;        ///< the processor that its kernels are written for: "Haswell"; empty: it does not say

private:
    using Sgemm = void (*)(int order, int trans_a, int trans_b, int m, int n, int k, float alpha, const float* a, int lda,
                           const float* b, int ldb, float beta, float* c, int ldc);
    Sgemm sgemm_ = nullptr;
    void (*set_threads_)(int) = nullptr;
    char* (*config_)() = nullptr;
    char* (*core_)() = nullptr;
};

/// Bits of the vectors in OpenBLAS's kernels for a core of x86-64, by the name that it gives; nothing: it is not known.
std::optional<int> vector_bits_of_core(std::string_view core) noexcept;

} // namespace schedscope
