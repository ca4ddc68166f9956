#include "runtime/tensor/blocks.h"

#include "runtime/numbers.h"
#include "runtime/tensor/convert.h"

namespace schedscope {

// Elements lie in two halves of 128 (Q2_K, Q3_K, Q6_K) or four quarters of 64 (Q4_K, Q5_K); within one, the same byte holds
// elements that are 32 apart.

void expand(const BlockQ2_K& b, float* x) noexcept {
    const float d = half_to_float(b.d);
    const float dmin = half_to_float(b.dmin);
    for (int group = 0; group < super_block / 16; ++group) {
        const int half = group / 8;
        const int shift = 2 * (group % 8 / 2);
        const uint8_t* q = b.qs + 32 * half + 16 * (group % 2);
        const float scale = d * (b.scales[group] & 0x0F);
        const float min = dmin * (b.scales[group] >> 4);
        for (int i = 0; i < 16; ++i) {
            *x++ = scale * ((q[i] >> shift) & 3) - min;
        }
    }
}

void expand(const BlockQ3_K& b, float* x) noexcept {
    const float d = half_to_float(b.d);
    for (int group = 0; group < super_block / 16; ++group) {
        const int half = group / 8;
        const int shift = 2 * (group % 8 / 2);
        const int bit = group / 2; // of hmask; one per 32 elements
        const uint8_t* q = b.qs + 32 * half + 16 * (group % 2);
        const uint8_t* h = b.hmask + 16 * (group % 2);
        const float scale = d * to_float(q3_scale(b.scales, group));
        for (int i = 0; i < 16; ++i) {
            const int number = ((q[i] >> shift) & 3) | (((h[i] >> bit) & 1) << 2);
            *x++ = scale * to_float(number - 4);
        }
    }
}

namespace {

/// Groups of 32 with a scale and a minimum; two share the bytes of their lower four bits. upper(group, i): the bits above these.
template <typename Block, typename Upper> void expand_with_minima(const Block& b, float* x, Upper upper) noexcept {
    const float d = half_to_float(b.d);
    const float dmin = half_to_float(b.dmin);
    for (int group = 0; group < super_block / 32; ++group) {
        const ScaleMin s = scale_min(b.scales, group);
        const uint8_t* q = b.qs + 32 * (group / 2);
        const int shift = 4 * (group % 2);
        const float scale = d * s.scale;
        const float min = dmin * s.min;
        for (int i = 0; i < 32; ++i) {
            const int number = ((q[i] >> shift) & 0x0F) | upper(group, i);
            *x++ = scale * to_float(number) - min;
        }
    }
}

} // namespace

void expand(const BlockQ4_K& b, float* x) noexcept {
    expand_with_minima(b, x, [](int, int) { return 0; });
}

void expand(const BlockQ5_K& b, float* x) noexcept {
    expand_with_minima(b, x, [&](int group, int i) { return ((b.qh[i] >> group) & 1) << 4; });
}

void expand(const BlockQ6_K& b, float* x) noexcept {
    const float d = half_to_float(b.d);
    for (int half = 0; half < 2; ++half) {
        const uint8_t* ql = b.ql + 64 * half;
        const uint8_t* qh = b.qh + 32 * half;
        for (int part = 0; part < 4; ++part) { // 32 elements each: low bits in ql, first low then high fours; two high bits in qh
            const uint8_t* low = ql + 32 * (part % 2);
            const int low_shift = 4 * (part / 2);
            for (int i = 0; i < 32; ++i) {
                const int number = ((low[i] >> low_shift) & 0x0F) | (((qh[i] >> (2 * part)) & 3) << 4);
                const int group = 8 * half + 2 * part + i / 16;
                const float scale = d * b.scales[group];
                *x++ = scale * to_float(number - 32);
            }
        }
    }
}

} // namespace schedscope
