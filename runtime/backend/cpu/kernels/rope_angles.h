#pragma once

#include "runtime/tensor/tensor.h"

#include <cstdint>

namespace schedscope::cpu {

/// How a ROPE node turns the pairs of a head: pair p of n_dims/2 by position × freq_base^(−2p/n_dims), divided by its factor,
/// interpolated between stretched (× freq_scale) and original angles by YaRN's ramp where ext_factor is not 0.
class RopeAngles {
public:
    explicit RopeAngles(const RopeParams& params);
    /// cos and sin of each pair, alternating: [n_dims]. factors: [n_dims / 2] or null.
    void fill(int32_t position, const float* factors, float* cos_sin) const;

private:
    int32_t n_dims_;
    double freq_base_, freq_scale_, ext_factor_, magnitude_;
    double ramp_low_ = 0, ramp_high_ = 0;
};

} // namespace schedscope::cpu
