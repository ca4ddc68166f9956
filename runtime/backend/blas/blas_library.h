#pragma once

#include <string>

namespace schedscope {

/// OpenBLAS, loaded when the program runs: it works without.
class BlasLibrary {
public:
    /// The one library; null (and why in `missing`) when it is not there.
    static const BlasLibrary* load(std::string& missing);

    /// C = A × Bᵀ of row-major floats: c [m × n, rows ldc apart], a [m × k], b [n × k]. Thread-safe.
    void multiply(int m, int n, int k, const float* a, int lda, const float* b, int ldb, float* c, int ldc) const;
    void set_threads(int n) const;
    std::string description() const; ///< "OpenBLAS 0.3.21 … Zen"

private:
    using Sgemm = void (*)(int order, int trans_a, int trans_b, int m, int n, int k, float alpha, const float* a, int lda,
                           const float* b, int ldb, float beta, float* c, int ldc);
    Sgemm sgemm_ = nullptr;
    void (*set_threads_)(int) = nullptr;
    char* (*config_)() = nullptr;
};

} // namespace schedscope
