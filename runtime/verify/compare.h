#pragma once

#include "runtime/tensor/tensor.h"

#include <cstdint>
#include <string_view>

namespace schedscope {

/// How far one tensor is from another of the same shape and type.
struct TensorDistance {
    /// Normalised mean square error: Σ(a − b)² / Σb² over the elements that are finite on both sides. 0 where nothing differs;
    /// infinite where they differ and all of b is 0, and where `why` is not empty.
    double nmse = 0;
    std::string_view why; ///< what no error can measure: "NaN differs", "infinity differs"; empty: nothing
    /// The largest |a − b| of elements that are finite on both sides; NaN where `why` is not empty.
    double max_error = 0;
    /// The first element that is so far off, or that `why` is about: i0 + ne0 × (i1 + ne1 × (i2 + ne2 × i3)); −1: none differs.
    int64_t element = -1;
    double a = 0, b = 0; ///< what the two hold there; 0 where none differs
};

/// NaN equals NaN, and an infinity the same infinity, at the same place. Work on both must be complete.
TensorDistance compare(const Tensor& a, const Tensor& b);

} // namespace schedscope
