#pragma once

#include "runtime/gguf/writer.h"

#include <cstdint>
#include <string>

namespace schedscope {

/// Adds made-up weights to a file, the same on every machine for the same seed and order of calls. Writing takes memory for a row
/// only.
class SynthWeights {
public:
    /// Matrices will be of `type`. Throws Error(usage) when weights can't be made as that. The writer must outlive it.
    SynthWeights(gguf::Writer& writer, Type type, uint64_t seed);

    /// Uniform values of variance 1/inputs (ne[0]; inputs: of a convolution ne[0] × ne[1] × ne[2]), so that what comes out is as
    /// large as what goes in. Of types that floats can't be quantised to: random blocks of that variance.
    void random(const std::string& name, Type type, const Shape& ne, int64_t inputs = 0);
    /// The same of the matrices' type; F16 where its blocks don't divide the rows.
    void matrix(const std::string& name, const Shape& ne);
    /// A row of ones, F32.
    void ones(const std::string& name, int64_t n);
    /// A row of values up to an eighth, F32: small beside the products that they are added to.
    void bias(const std::string& name, int64_t n);

    Type type() const noexcept { return type_; }
    /// How many matrices are of another type than asked for, a sentence; empty: none.
    std::string note() const;

private:
    gguf::Writer& writer_;
    Type type_;
    uint64_t seed_;
    uint64_t n_random_ = 0;
    int64_t n_matrices_ = 0;
    int64_t n_halves_ = 0; ///< of them, F16 because of their rows
};

} // namespace schedscope
