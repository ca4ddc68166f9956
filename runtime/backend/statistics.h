#pragma once

#include "runtime/tensor/tensor.h"

#include <array>
#include <cstdint>
#include <vector>

namespace schedscope {

constexpr size_t n_histogram_parts = 32;

/// What a tensor's elements are like. min, max, mean, norm and histogram are of the finite ones; NaN (and zeros in the histogram)
/// where there is none.
struct Statistics {
    int64_t n_elements = 0, n_nan = 0, n_inf = 0;
    double min = 0, max = 0, mean = 0;
    double norm = 0; ///< root of the sum of squares
    /// Elements in equal parts from min to max; the last part includes max. All are in the first where min == max.
    std::array<int64_t, n_histogram_parts> histogram{};
    std::vector<double> first; ///< the first elements, in order of the dimensions
};

/// Of any type, strides and place; the work that writes the tensor must be complete. Reads the elements twice.
Statistics statistics(const Tensor& tensor, size_t n_first);

} // namespace schedscope
