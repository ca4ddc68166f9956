#include "runtime/tensor/blocks.h"

#include "runtime/numbers.h"
#include "runtime/tensor/code_books.h"
#include "runtime/tensor/convert.h"

#include <bit>

namespace schedscope {

namespace {

constexpr int groups = super_block / 32, vectors_in_group = 4; ///< of eight elements

uint32_t little_endian(const uint8_t* p) noexcept { return p[0] | p[1] << 8U | p[2] << 16U | uint32_t{p[3]} << 24U; }

/// Eight signs of seven bits: the last one makes the number of those that are set even.
constexpr unsigned eight_signs(unsigned seven) noexcept {
    return seven | (static_cast<unsigned>(std::popcount(seven)) & 1U) << 7U;
}

/// A vector's elements times d, those negated whose bit is set. Returns where the next one begins.
template <size_t n> float* put(const std::array<int8_t, n>& vector, unsigned signs, float d, float* x) noexcept {
    for (const int8_t element : vector) {
        *x++ = (signs & 1U) != 0 ? element * -d : element * d;
        signs >>= 1U;
    }
    return x;
}

/// Two of four elements.
float* put(const std::array<int8_t, 4>& first, const std::array<int8_t, 4>& second, unsigned signs, float d, float* x) noexcept {
    return put(second, signs >> 4U, d, put(first, signs, d, x));
}

/// Scale g of those that have four bits each.
unsigned four_bits(const uint8_t* scales, int g) noexcept { return (scales[g / 2] >> (4 * (g % 2))) & 0x0FU; }

/// A vector of IQ1, moved by an eighth.
float* put_moved(const std::array<int8_t, 8>& vector, bool down, float d, float* x) noexcept {
    for (const int8_t element : vector) {
        *x++ = d * (element + (down ? -0.125F : 0.125F));
    }
    return x;
}

} // namespace

void expand(const BlockIQ2_XXS& b, float* x) noexcept {
    const float d = half_to_float(b.d);
    for (int group = 0; group < groups; ++group) {
        const uint8_t* vectors = b.qs + 8 * group;
        const uint32_t rest = little_endian(vectors + 4);
        const float scale = d * (to_float(rest >> 28U) + 0.5F) * 0.25F;
        for (int i = 0; i < vectors_in_group; ++i) {
            x = put(iq2_xxs_book[vectors[i]], eight_signs((rest >> (7 * i)) & 127U), scale, x);
        }
    }
}

void expand(const BlockIQ2_XS& b, float* x) noexcept {
    const float d = half_to_float(b.d);
    for (int i = 0; i < super_block / 8; ++i) {
        const float scale = d * (to_float(four_bits(b.scales, i / 2)) + 0.5F) * 0.25F;
        x = put(iq2_xs_book[b.qs[i] & 511U], eight_signs(b.qs[i] >> 9U), scale, x);
    }
}

void expand(const BlockIQ2_S& b, float* x) noexcept {
    const float d = half_to_float(b.d);
    for (int i = 0; i < super_block / 8; ++i) {
        const float scale = d * (to_float(four_bits(b.scales, i / 2)) + 0.5F) * 0.25F;
        const unsigned upper = (b.qh[i / 4] >> (2 * (i % 4))) & 3U;
        x = put(iq2_s_book[b.qs[i] | upper << 8U], b.signs[i], scale, x);
    }
}

void expand(const BlockIQ3_XXS& b, float* x) noexcept {
    const float d = half_to_float(b.d);
    for (int group = 0; group < groups; ++group) {
        const uint8_t* vectors = b.qs + 8 * group;
        const uint32_t rest = little_endian(b.signs_and_scales + 4 * group);
        const float scale = d * (to_float(rest >> 28U) + 0.5F) * 0.5F;
        for (int i = 0; i < vectors_in_group; ++i) {
            const unsigned signs = eight_signs((rest >> (7 * i)) & 127U);
            x = put(iq3_xxs_book[vectors[2 * i]], iq3_xxs_book[vectors[2 * i + 1]], signs, scale, x);
        }
    }
}

void expand(const BlockIQ3_S& b, float* x) noexcept {
    const float d = half_to_float(b.d);
    const auto vector = [&](int i) -> const std::array<int8_t, 4>& {
        return iq3_s_book[b.qs[i] | ((b.qh[i / 8] >> (i % 8)) & 1U) << 8U];
    };
    for (int i = 0; i < super_block / 8; ++i) {
        const float scale = d * to_float(2 * four_bits(b.scales, i / 4) + 1);
        x = put(vector(2 * i), vector(2 * i + 1), b.signs[i], scale, x);
    }
}

void expand(const BlockIQ1_S& b, float* x) noexcept {
    const float d = half_to_float(b.d);
    for (int i = 0; i < super_block / 8; ++i) {
        const unsigned of_group = b.qh[i / 4];
        const float scale = d * to_float(2 * ((of_group >> 12U) & 7U) + 1);
        const unsigned upper = (of_group >> (3 * (i % 4))) & 7U;
        x = put_moved(iq1_book[b.qs[i] | upper << 8U], of_group >> 15U != 0, scale, x);
    }
}

void set_scale(BlockIQ1_M& b, uint16_t d) noexcept {
    for (int i = 0; i < 4; ++i) {
        b.scales[i] = static_cast<uint16_t>((b.scales[i] & 0x0FFFU) | ((d >> (4 * i)) & 0x0FU) << 12U);
    }
}

void expand(const BlockIQ1_M& b, float* x) noexcept {
    unsigned bits = 0;
    for (int i = 0; i < 4; ++i) {
        bits |= (b.scales[i] >> 12U) << (4 * i);
    }
    const float d = half_to_float(static_cast<uint16_t>(bits));
    for (int i = 0; i < super_block / 8; ++i) {
        const float scale = d * to_float(2 * ((b.scales[i / 8] >> (3 * (i / 2 % 4))) & 7U) + 1);
        const unsigned upper = b.qh[i / 2] >> (4 * (i % 2)); // three bits, and the one that tells which way it is moved
        x = put_moved(iq1_book[b.qs[i] | (upper & 7U) << 8U], (upper & 8U) != 0, scale, x);
    }
}

} // namespace schedscope
