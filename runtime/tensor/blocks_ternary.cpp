#include "runtime/tensor/blocks.h"

#include "runtime/numbers.h"
#include "runtime/tensor/convert.h"

#include <array>
#include <cmath>

namespace schedscope {

namespace {

constexpr int digits = 5;  ///< of base 3 in a byte
constexpr int all = 243;   ///< 3⁵
constexpr int bytes = 256; ///< that a byte can be

/// Some bytes of a TQ1_0 block: each holds `count` elements that are n_bytes apart, from the same place on.
struct Stretch {
    int first_byte; ///< of qs and qh, which lie one behind the other
    int n_bytes;
    int count;
    int first_element;
};
constexpr std::array<Stretch, 3> stretches = {{{0, 32, digits, 0}, {32, 16, digits, 160}, {48, 4, 4, 240}}};

uint8_t& byte_of(BlockTQ1_0& b, int i) noexcept {
    constexpr int n = sizeof b.qs;
    return i < n ? b.qs[i] : b.qh[i - n];
}
uint8_t byte_of(const BlockTQ1_0& b, int i) noexcept {
    constexpr int n = sizeof b.qs;
    return i < n ? b.qs[i] : b.qh[i - n];
}

/// Scales by the largest value and rounds to 0, 1, 2.
template <typename Block> void number_all(const float* x, Block& b, std::array<uint8_t, super_block>& q) noexcept {
    const float d = std::fabs(extreme(x, super_block));
    const float d_inverse = inverse(d);
    b.d = float_to_half(d);
    for (size_t i = 0; i < q.size(); ++i) {
        const float number = std::round(x[i] * d_inverse);
        q[i] = static_cast<uint8_t>(number > 0.0F ? 2 : number < 0.0F ? 0 : 1);
    }
}

} // namespace

void expand(const BlockTQ1_0& b, float* x) noexcept {
    const float d = half_to_float(b.d);
    for (const Stretch& s : stretches) {
        for (int byte = 0; byte < s.n_bytes; ++byte) {
            // The byte is a fraction of 256: what three times it has beyond that is its first digit.
            unsigned fraction = byte_of(b, s.first_byte + byte);
            for (int i = 0; i < s.count; ++i) {
                fraction *= 3;
                x[s.first_element + byte + i * s.n_bytes] = to_float(static_cast<int>(fraction / bytes) - 1) * d;
                fraction %= bytes;
            }
        }
    }
}

void quantise(const float* x, BlockTQ1_0& b) noexcept {
    std::array<uint8_t, super_block> q{};
    number_all(x, b, q);
    for (const Stretch& s : stretches) {
        for (int byte = 0; byte < s.n_bytes; ++byte) {
            int number = 0;
            for (int i = 0; i < digits; ++i) {
                const bool there = i < s.count;
                number = 3 * number + (there ? q[s.first_element + byte + i * s.n_bytes] : 0);
            }
            byte_of(b, s.first_byte + byte) = static_cast<uint8_t>((number * bytes + all - 1) / all);
        }
    }
}

void expand(const BlockTQ2_0& b, float* x) noexcept {
    const float d = half_to_float(b.d);
    for (int i = 0; i < super_block; ++i) {
        x[i] = to_float(((b.qs[32 * (i / 128) + i % 32] >> (2 * (i % 128 / 32))) & 3) - 1) * d;
    }
}

void quantise(const float* x, BlockTQ2_0& b) noexcept {
    std::array<uint8_t, super_block> q{};
    number_all(x, b, q);
    for (size_t i = 0; i < sizeof b.qs; ++i) {
        const size_t first = 128 * (i / 32) + i % 32;
        b.qs[i] = static_cast<uint8_t>(q[first] | q[first + 32] << 2 | q[first + 64] << 4 | q[first + 96] << 6);
    }
}

} // namespace schedscope
