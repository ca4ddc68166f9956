#pragma once

#include "runtime/tensor/tensor.h"

#include <string_view>

namespace schedscope {

/// How far one tensor is from another of the same shape and type.
struct Difference {
    /// Normalised mean square error: Σ(a − b)² / Σb² over the elements that are finite on both sides. 0 where nothing differs; infinite where
    /// they differ and all of b is 0, and where `why` is not empty.
    double nmse = 0;
    std::string_view why; ///< what no error can measure: "NaN differs", "infinity differs"; empty: nothing
};

/// NaN equals NaN, and an infinity the same infinity, at the same place. Work on both must be complete.
Difference compare(const Tensor& a, const Tensor& b);

} // namespace schedscope
