#include "runtime/tensor/blocks.h"

#include "runtime/numbers.h"
#include "runtime/tensor/convert.h"

#include <array>
#include <cmath>
#include <cstring>

// Groups get the scale (and minimum) that their largest values ask for; scales are rounded to the block's small integers, then
// every element to the nearest value that is left. ggml's reference searches for better scales; blocks are read alike.

namespace schedscope {

namespace {

/// Nearest integer within low … high; not a number becomes low.
int nearest(float v, int low, int high) noexcept {
    const float rounded = std::nearbyint(v);
    return rounded > to_float(low) ? (rounded < to_float(high) ? static_cast<int>(rounded) : high) : low;
}

/// Numbers and scales of a super block whose groups of N elements are d × scale × (number − offset).
template <int N> struct Symmetric {
    static constexpr int groups = super_block / N;
    std::array<int, groups> scales{};
    std::array<uint8_t, super_block> numbers{};
    uint16_t d = 0;

    /// `lowest`: the smallest value of number − offset, and `lowest_scale` of the scales; both are −2^n.
    Symmetric(const float* x, int lowest, int lowest_scale) noexcept {
        std::array<float, groups> wanted{};
        for (int g = 0; g < groups; ++g) {
            wanted[g] = extreme(x + g * N, N) / to_float(lowest);
        }
        d = float_to_half(extreme(wanted.data(), groups) / to_float(lowest_scale));
        const float step = half_to_float(d);
        for (int g = 0; g < groups; ++g) {
            const int scale = nearest(wanted[g] * inverse(step), lowest_scale, -lowest_scale - 1);
            scales[g] = scale;
            const float to_number = inverse(step * to_float(scale));
            for (int i = g * N; i < (g + 1) * N; ++i) {
                numbers[i] = static_cast<uint8_t>(nearest(x[i] * to_number, lowest, -lowest - 1) - lowest);
            }
        }
    }
};

/// Numbers, scales and minima of a super block whose groups of N elements are d × scale × number − dmin × min.
template <int N> struct WithMinimum {
    static constexpr int groups = super_block / N;
    std::array<int, groups> scales{};
    std::array<int, groups> minima{};
    std::array<uint8_t, super_block> numbers{};
    uint16_t d = 0;
    uint16_t dmin = 0;

    WithMinimum(const float* x, int highest, int highest_scale) noexcept {
        std::array<float, groups> scale{};
        std::array<float, groups> minimum{};
        for (int g = 0; g < groups; ++g) {
            float low = 0.0F; // a minimum above zero can't be stored
            float high = 0.0F;
            for (int i = g * N; i < (g + 1) * N; ++i) {
                low = x[i] < low ? x[i] : low;
                high = x[i] > high ? x[i] : high;
            }
            scale[g] = (high - low) / to_float(highest);
            minimum[g] = -low;
        }
        d = float_to_half(extreme(scale.data(), groups) / to_float(highest_scale));
        dmin = float_to_half(extreme(minimum.data(), groups) / to_float(highest_scale));
        for (int g = 0; g < groups; ++g) {
            const size_t at = g;
            scales[at] = nearest(scale[at] * inverse(half_to_float(d)), 0, highest_scale);
            minima[at] = nearest(minimum[at] * inverse(half_to_float(dmin)), 0, highest_scale);
            const float to_number = inverse(half_to_float(d) * to_float(scales[at]));
            const float offset = half_to_float(dmin) * to_float(minima[at]);
            for (int i = g * N; i < (g + 1) * N; ++i) {
                numbers[i] = static_cast<uint8_t>(nearest((x[i] + offset) * to_number, 0, highest));
            }
        }
    }
};

void add_bits(uint8_t& byte, int bits, int shift) noexcept { byte = static_cast<uint8_t>(byte | bits << shift); }

/// The inverse of scale_min: eight scales and minima of 6 bits.
void store_scales(const std::array<int, 8>& scales, const std::array<int, 8>& minima, uint8_t* out) noexcept {
    std::memset(out, 0, 12);
    for (size_t g = 0; g < 4; ++g) {
        out[g] = static_cast<uint8_t>(scales[g] | scales[g + 4] >> 4 << 6);
        out[g + 4] = static_cast<uint8_t>(minima[g] | minima[g + 4] >> 4 << 6);
        out[g + 8] = static_cast<uint8_t>((scales[g + 4] & 0x0F) | (minima[g + 4] & 0x0F) << 4);
    }
}

/// Fours of Q4_K and Q5_K: groups of 32, two to 32 bytes.
void store_fours(const std::array<uint8_t, super_block>& numbers, uint8_t* qs) noexcept {
    for (int i = 0; i < super_block; ++i) {
        add_bits(qs[32 * (i / 64) + i % 32], numbers[i] & 0x0F, 4 * (i / 32 % 2));
    }
}

/// Of two that are as near the upper one.
int nearest_iq4(float v) noexcept {
    int n = 0;
    for (size_t i = 1; i < iq4_values.size(); ++i) {
        n += v < to_float(iq4_values[i - 1] + iq4_values[i]) / 2 ? 0 : 1;
    }
    return n;
}

void store_iq4(const float* x, float d, uint8_t* qs) noexcept {
    const float to_step = inverse(d);
    for (int j = 0; j < 16; ++j) {
        qs[j] = static_cast<uint8_t>(nearest_iq4(x[j] * to_step) | nearest_iq4(x[j + 16] * to_step) << 4);
    }
}

constexpr float iq4_lowest = -127.0F;

} // namespace

void quantise(const float* x, BlockQ2_K& b) noexcept {
    const WithMinimum<16> q(x, 3, 15);
    b = {};
    b.d = q.d;
    b.dmin = q.dmin;
    for (size_t g = 0; g < q.scales.size(); ++g) {
        b.scales[g] = static_cast<uint8_t>(q.scales[g] | q.minima[g] << 4);
    }
    for (int i = 0; i < super_block; ++i) {
        add_bits(b.qs[32 * (i / 128) + i % 32], q.numbers[i], 2 * (i % 128 / 32));
    }
}

void quantise(const float* x, BlockQ3_K& b) noexcept {
    const Symmetric<16> q(x, -4, -32);
    b = {};
    b.d = q.d;
    for (int g = 0; g < q.groups; ++g) {
        const int scale = q.scales[g] + 32;
        add_bits(b.scales[g % 8], scale & 0x0F, g < 8 ? 0 : 4);
        add_bits(b.scales[8 + g % 4], scale >> 4, 2 * (g / 4));
    }
    for (int i = 0; i < super_block; ++i) {
        const int number = q.numbers[i];
        add_bits(b.qs[32 * (i / 128) + i % 32], number & 3, 2 * (i % 128 / 32));
        add_bits(b.hmask[i % 32], number >> 2, i / 32);
    }
}

namespace {

/// All but what is above the numbers' lower four bits.
template <typename Block> void store(const WithMinimum<32>& q, Block& b) noexcept {
    b = {};
    b.d = q.d;
    b.dmin = q.dmin;
    store_scales(q.scales, q.minima, b.scales);
    store_fours(q.numbers, b.qs);
}

} // namespace

void quantise(const float* x, BlockQ4_K& b) noexcept { store(WithMinimum<32>(x, 15, 63), b); }

void quantise(const float* x, BlockQ5_K& b) noexcept {
    const WithMinimum<32> q(x, 31, 63);
    store(q, b);
    for (int i = 0; i < super_block; ++i) {
        add_bits(b.qh[i % 32], q.numbers[i] >> 4, i / 32);
    }
}

void quantise(const float* x, BlockQ6_K& b) noexcept {
    const Symmetric<16> q(x, -32, -128);
    b = {};
    b.d = q.d;
    for (size_t g = 0; g < q.scales.size(); ++g) {
        b.scales[g] = static_cast<int8_t>(q.scales[g]);
    }
    for (int i = 0; i < super_block; ++i) {
        const int half = i / 128;
        const int part = i % 128 / 32;
        const int number = q.numbers[i];
        add_bits(b.ql[64 * half + 32 * (part % 2) + i % 32], number & 0x0F, 4 * (part / 2));
        add_bits(b.qh[32 * half + i % 32], number >> 4, 2 * part);
    }
}

/// The steps that are nearest at the scale which the extreme asks for, then the scale that is best for these, where an element
/// counts by its square.
void quantise(const float* x, BlockIQ4_NL& b) noexcept {
    store_iq4(x, extreme(x, small_block) / iq4_lowest, b.qs);
    float with_x = 0, with_itself = 0;
    for (int i = 0; i < small_block; ++i) {
        const float step = iq4_values[i < 16 ? b.qs[i] & 15 : b.qs[i - 16] >> 4];
        const float weighted = x[i] * x[i] * step;
        with_x += weighted * x[i];
        with_itself += weighted * step;
    }
    b.d = float_to_half(with_x * inverse(with_itself));
}

void quantise(const float* x, BlockIQ4_XS& b) noexcept {
    std::array<float, super_block / 32> wanted{};
    for (size_t g = 0; g < wanted.size(); ++g) {
        wanted[g] = extreme(x + 32 * g, 32) / iq4_lowest;
    }
    b = {};
    b.d = float_to_half(extreme(wanted.data(), wanted.size()) / -32.0F);
    const float d = half_to_float(b.d);
    for (size_t g = 0; g < wanted.size(); ++g) {
        const int scale = nearest(wanted[g] * inverse(d), -32, 31);
        add_bits(b.scales_l[g / 2], (scale + 32) & 0x0F, g % 2 == 0 ? 0 : 4);
        b.scales_h = static_cast<uint16_t>(b.scales_h | (scale + 32) >> 4 << (2 * g));
        store_iq4(x + 32 * g, d * to_float(scale), b.qs + 16 * g);
    }
}

} // namespace schedscope
