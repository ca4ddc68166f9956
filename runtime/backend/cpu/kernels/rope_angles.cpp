#include "runtime/backend/cpu/kernels/rope_angles.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace schedscope::cpu {

RopeAngles::RopeAngles(const RopeParams& params)
    : n_dims_(params.n_dims), freq_base_(params.freq_base), freq_scale_(params.freq_scale), ext_factor_(params.ext_factor),
      magnitude_(params.attn_factor) {
    if (ext_factor_ == 0.0) {
        return;
    }
    // The pair that turns `rotations` times within the original context.
    const auto pair_of = [&](double rotations) {
        return n_dims_ * std::log(params.n_ctx_original / (rotations * 2.0 * std::numbers::pi)) / (2.0 * std::log(freq_base_));
    };
    ramp_low_ = std::max(0.0, std::floor(pair_of(params.beta_fast)));
    ramp_high_ = std::min(n_dims_ - 1.0, std::ceil(pair_of(params.beta_slow)));
    magnitude_ *= 1.0 + 0.1 * std::log(1.0 / freq_scale_);
}

void RopeAngles::fill(int32_t position, const float* factors, float* cos_sin) const {
    for (int32_t pair = 0; pair < n_dims_ / 2; ++pair) {
        const double original =
            position * std::pow(freq_base_, -2.0 * pair / n_dims_) / (factors != nullptr ? factors[pair] : 1.0);
        double angle = original * freq_scale_;
        if (ext_factor_ != 0.0) {
            const double ramp = 1.0 - std::clamp((pair - ramp_low_) / std::max(0.001, ramp_high_ - ramp_low_), 0.0, 1.0);
            const double mix = ramp * ext_factor_;
            angle = angle * (1.0 - mix) + original * mix;
        }
        cos_sin[2 * pair] = static_cast<float>(std::cos(angle) * magnitude_);
        cos_sin[2 * pair + 1] = static_cast<float>(std::sin(angle) * magnitude_);
    }
}

} // namespace schedscope::cpu
