#pragma once

#include <bit>
#include <cstdint>

namespace schedscope {

namespace half_bits {

constexpr uint32_t magnitude_mask = 0x7FFFFFFFU;         // of a float
constexpr uint32_t infinity = 0x7F800000U;               // of a float
constexpr uint32_t exponent_shift = (127U - 15U) << 23U; ///< between the two formats' exponent biases

} // namespace half_bits

inline float half_to_float(uint16_t h) noexcept {
    const uint32_t sign = (h & 0x8000U) << 16U;
    const uint32_t magnitude = h & 0x7FFFU;
    // A denormal is its integer times 2^-24, which a float holds exactly. Infinity and NaN keep the highest exponent.
    const uint32_t denormal = std::bit_cast<uint32_t>(static_cast<float>(magnitude) * 0x1p-24F);
    const uint32_t normal =
        (magnitude << 13U) + half_bits::exponent_shift + (magnitude >= 0x7C00U ? half_bits::exponent_shift : 0U);
    return std::bit_cast<float>(sign | (magnitude < 0x0400U ? denormal : normal));
}

/// Rounds to nearest even; beyond 65504 by half a step or more: infinity.
inline uint16_t float_to_half(float f) noexcept {
    const uint32_t bits = std::bit_cast<uint32_t>(f);
    const uint32_t sign = (bits >> 16U) & 0x8000U;
    const uint32_t magnitude = bits & half_bits::magnitude_mask;
    uint32_t half = 0;
    if (magnitude > half_bits::infinity) {
        half = 0x7E00U | ((magnitude >> 13U) & 0x01FFU);
    } else if (magnitude >= 0x47800000U) { // 65536 and more
        half = 0x7C00U;
    } else if (magnitude < 0x38800000U) { // below 2^-14; the unit of the last place at 0.5 is a half's smallest step, 2^-24
        half = std::bit_cast<uint32_t>(std::bit_cast<float>(magnitude) + 0.5F) - std::bit_cast<uint32_t>(0.5F);
    } else { // a carry out of the mantissa moves the exponent, up to infinity, as it should
        half = (magnitude - half_bits::exponent_shift + 0x0FFFU + ((magnitude >> 13U) & 1U)) >> 13U;
    }
    return static_cast<uint16_t>(sign | half);
}

inline float bf16_to_float(uint16_t h) noexcept { return std::bit_cast<float>(static_cast<uint32_t>(h) << 16U); }

/// Rounds to nearest even; NaN stays NaN.
inline uint16_t float_to_bf16(float f) noexcept {
    const uint32_t bits = std::bit_cast<uint32_t>(f);
    if ((bits & half_bits::magnitude_mask) > half_bits::infinity) {
        return static_cast<uint16_t>((bits >> 16U) | 0x0040U);
    }
    return static_cast<uint16_t>((bits + 0x7FFFU + ((bits >> 16U) & 1U)) >> 16U);
}

} // namespace schedscope
