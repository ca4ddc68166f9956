#include "runtime/tensor/blocks.h"

#include "runtime/numbers.h"
#include "runtime/tensor/convert.h"

#include <cmath>

namespace schedscope {

namespace {

constexpr int half_block = small_block / 2;

struct Range {
    float min;
    float max;
};
Range range_of(const float* x) noexcept {
    Range r{x[0], x[0]};
    for (int i = 1; i < small_block; ++i) {
        r.min = x[i] < r.min ? x[i] : r.min;
        r.max = x[i] > r.max ? x[i] : r.max;
    }
    return r;
}

/// Cuts the fraction off and stays within 0 … most. NaN becomes 0.
uint8_t stored(float v, int most) noexcept {
    return v > 0.0F ? static_cast<uint8_t>(v < to_float(most) ? static_cast<int>(v) : most) : uint8_t{0};
}

uint32_t fifth_bits(const uint8_t* qh) noexcept { return qh[0] | qh[1] << 8U | qh[2] << 16U | qh[3] << 24U; }

void store_fours(const uint8_t* q, uint8_t* qs) noexcept {
    for (int j = 0; j < half_block; ++j) {
        qs[j] = static_cast<uint8_t>((q[j] & 0x0F) | ((q[j + half_block] & 0x0F) << 4));
    }
}

void store_fifths(const uint8_t* q, uint8_t* qh) noexcept {
    for (int byte = 0; byte < 4; ++byte) {
        unsigned bits = 0;
        for (int j = 0; j < 8; ++j) {
            bits |= ((q[8 * byte + j] >> 4) & 1) << j;
        }
        qh[byte] = static_cast<uint8_t>(bits);
    }
}

/// q = (x − origin) / d rounded the way ggml does: 0.5 (plus an offset) is added, then the fraction is cut off.
void number_all(const float* x, float origin, float d_inverse, float plus, int most, uint8_t* q) noexcept {
    for (int i = 0; i < small_block; ++i) {
        q[i] = stored((x[i] - origin) * d_inverse + plus, most);
    }
}

} // namespace

void expand(const BlockQ4_0& b, float* x) noexcept {
    const float d = half_to_float(b.d);
    for (int j = 0; j < half_block; ++j) {
        x[j] = to_float((b.qs[j] & 0x0F) - 8) * d;
        x[j + half_block] = ((b.qs[j] >> 4) - 8) * d;
    }
}

void expand(const BlockQ4_1& b, float* x) noexcept {
    const float d = half_to_float(b.d);
    const float m = half_to_float(b.m);
    for (int j = 0; j < half_block; ++j) {
        x[j] = (b.qs[j] & 0x0F) * d + m;
        x[j + half_block] = (b.qs[j] >> 4) * d + m;
    }
}

void expand(const BlockQ5_0& b, float* x) noexcept {
    const float d = half_to_float(b.d);
    const uint32_t fifth = fifth_bits(b.qh);
    for (int j = 0; j < half_block; ++j) {
        const int low = (b.qs[j] & 0x0FU) | ((fifth >> j) & 1U) << 4U;
        const int high = (b.qs[j] >> 4U) | ((fifth >> (j + half_block)) & 1U) << 4U;
        x[j] = to_float(low - 16) * d;
        x[j + half_block] = to_float(high - 16) * d;
    }
}

void expand(const BlockQ5_1& b, float* x) noexcept {
    const float d = half_to_float(b.d);
    const float m = half_to_float(b.m);
    const uint32_t fifth = fifth_bits(b.qh);
    for (int j = 0; j < half_block; ++j) {
        const int low = (b.qs[j] & 0x0FU) | ((fifth >> j) & 1U) << 4U;
        const int high = (b.qs[j] >> 4U) | ((fifth >> (j + half_block)) & 1U) << 4U;
        x[j] = to_float(low) * d + m;
        x[j + half_block] = to_float(high) * d + m;
    }
}

void expand(const BlockMXFP4& b, float* x) noexcept {
    const float d = mxfp4_scale(b.e);
    for (int j = 0; j < half_block; ++j) {
        x[j] = fp4_values[b.qs[j] & 0x0F] * d;
        x[j + half_block] = fp4_values[b.qs[j] >> 4] * d;
    }
}

void expand(const BlockQ8_0& b, float* x) noexcept {
    const float d = half_to_float(b.d);
    for (int j = 0; j < small_block; ++j) {
        x[j] = b.qs[j] * d;
    }
}

namespace {

/// Numbers 0 … `most` around their middle; stores their lower four bits.
template <typename Block> void number_around_zero(const float* x, int most, Block& b, uint8_t (&q)[small_block]) noexcept {
    const int middle_code = most / 2 + 1;
    const auto middle = to_float(middle_code);
    const float d = extreme(x, small_block) / -middle;
    b.d = float_to_half(d);
    number_all(x, 0.0F, inverse(d), middle + 0.5F, most, q);
    store_fours(q, b.qs);
}

/// Numbers 0 … `most` from the least on; stores their lower four bits.
template <typename Block> void number_from_least(const float* x, int most, Block& b, uint8_t (&q)[small_block]) noexcept {
    const Range r = range_of(x);
    const float d = (r.max - r.min) / to_float(most);
    b.d = float_to_half(d);
    b.m = float_to_half(r.min);
    number_all(x, r.min, inverse(d), 0.5F, most, q);
    store_fours(q, b.qs);
}

} // namespace

void quantise(const float* x, BlockQ4_0& b) noexcept {
    uint8_t q[small_block];
    number_around_zero(x, 15, b, q);
}

void quantise(const float* x, BlockQ4_1& b) noexcept {
    uint8_t q[small_block];
    number_from_least(x, 15, b, q);
}

void quantise(const float* x, BlockQ5_0& b) noexcept {
    uint8_t q[small_block];
    number_around_zero(x, 31, b, q);
    store_fifths(q, b.qh);
}

void quantise(const float* x, BlockQ5_1& b) noexcept {
    uint8_t q[small_block];
    number_from_least(x, 31, b, q);
    store_fifths(q, b.qh);
}

void quantise(const float* x, BlockQ8_0& b) noexcept {
    float most = 0.0F;
    for (int i = 0; i < small_block; ++i) {
        const float size = std::fabs(x[i]);
        most = size > most ? size : most;
    }
    const float d = most / 127.0F;
    const float d_inverse = inverse(d);
    b.d = float_to_half(d);
    for (int i = 0; i < small_block; ++i) {
        const float v = std::round(x[i] * d_inverse);
        b.qs[i] = static_cast<int8_t>(v > -128.0F ? (v < 127.0F ? v : 127) : (v <= -128.0F ? -128 : 0));
    }
}

namespace {

/// The number whose value is nearest to x, the first of two that are equally near.
uint8_t nearest_fp4(float x, float d) noexcept {
    size_t best = 0;
    for (size_t q = 1; q < fp4_values.size(); ++q) {
        best = std::fabs(fp4_values[q] * d - x) < std::fabs(fp4_values[best] * d - x) ? q : best;
    }
    return static_cast<uint8_t>(best);
}

} // namespace

void quantise(const float* x, BlockMXFP4& b) noexcept {
    constexpr float bias = 127, largest_exponent = 2; // of FP4, whose largest number is 1.5 × 2²
    const float most = std::fabs(extreme(x, small_block));
    const float exponent = most > 0.0F ? std::floor(std::log2(most)) - largest_exponent + bias : 0.0F;
    b.e = stored(exponent, 254);
    uint8_t q[small_block];
    for (int i = 0; i < small_block; ++i) {
        q[i] = nearest_fp4(x[i], mxfp4_scale(b.e));
    }
    store_fours(q, b.qs);
}

} // namespace schedscope
