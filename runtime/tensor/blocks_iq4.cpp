#include "runtime/tensor/blocks.h"

#include "runtime/numbers.h"
#include "runtime/tensor/convert.h"

namespace schedscope {

namespace {

/// 32 elements of 16 bytes.
void expand_group(const uint8_t* qs, float d, float* x) noexcept {
    for (int j = 0; j < 16; ++j) {
        x[j] = d * (iq4_values[qs[j] & 0x0F]);
        x[j + 16] = d * (iq4_values[qs[j] >> 4]);
    }
}

} // namespace

void expand(const BlockIQ4_NL& b, float* x) noexcept { expand_group(b.qs, half_to_float(b.d), x); }

void expand(const BlockIQ4_XS& b, float* x) noexcept {
    const float d = half_to_float(b.d);
    for (int group = 0; group < super_block / 32; ++group) {
        expand_group(b.qs + 16 * group, d * to_float(iq4_xs_scale(b, group)), x + 32 * group);
    }
}

} // namespace schedscope
