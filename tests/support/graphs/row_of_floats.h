#pragma once

#include "runtime/tensor/convert.h"

#include <random>

namespace schedscope::test {

/// A row of the type of n floats. Of types that floats can't be quantised to: random blocks of numbers about as large as 1, the
/// same for the same floats.
inline void row_of_floats(Type type, const float* floats, void* row, int64_t n) {
    if (row_from_float(type, floats, row, n)) {
        return;
    }
    std::seed_seq seeds(reinterpret_cast<const uint8_t*>(floats), reinterpret_cast<const uint8_t*>(floats + n));
    std::mt19937 random(seeds);
    auto* bytes = static_cast<uint8_t*>(row);
    for (size_t i = 0; i < row_bytes(type, n); ++i) {
        bytes[i] = static_cast<uint8_t>(random());
    }
    set_scales(type, 0x1p-5F, row, n);
}

} // namespace schedscope::test
