#pragma once

#include "runtime/numbers.h"

#include <bit>
#include <cmath>
#include <cstdint>

namespace schedscope::cpu {

/// ALiBi: how strongly head h of n is pulled to near positions: a geometric sequence over the largest power of two of heads that
/// there are, the values halfway between for the rest. 1 without a bias.
inline float alibi_slope(float max_bias, int64_t head, int64_t n_heads) {
    if (max_bias <= 0.0F) {
        return 1.0F;
    }
    const auto n = to_double(std::bit_floor(static_cast<uint64_t>(n_heads)));
    const auto h = to_double(head);
    const double power = h < n ? h + 1.0 : (2.0 * (h - n) + 1.0) / 2.0;
    return to_float(std::exp2(-to_double(max_bias) * power / n));
}

} // namespace schedscope::cpu
