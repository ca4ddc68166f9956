// Halfs and brain floats against arithmetic in double precision.
#include "runtime/tensor/convert.h"

#include <cmath>
#include <gtest/gtest.h>
#include <limits>

namespace schedscope {
namespace {

/// The value of sign, exponent and mantissa fields, by the definition of IEEE 754.
double by_definition(uint32_t bits, int exponent_bits, int mantissa_bits) {
    const int mantissa = static_cast<int>(bits & ((1U << mantissa_bits) - 1));
    const int exponent = static_cast<int>((bits >> mantissa_bits) & ((1U << exponent_bits) - 1));
    const double sign = (bits >> (mantissa_bits + exponent_bits)) != 0 ? -1.0 : 1.0;
    const int bias = (1 << (exponent_bits - 1)) - 1;
    if (exponent == (1 << exponent_bits) - 1) {
        return mantissa != 0 ? std::numeric_limits<double>::quiet_NaN() : sign * std::numeric_limits<double>::infinity();
    }
    return exponent == 0 ? sign * std::ldexp(mantissa, 1 - bias - mantissa_bits)
                         : sign * std::ldexp(mantissa + (1 << mantissa_bits), exponent - bias - mantissa_bits);
}

double half_value(uint32_t h) { return by_definition(h, 5, 10); }
double bf16_value(uint32_t h) { return by_definition(h, 8, 7); }

using Round = uint16_t (*)(float);

/// The two neighbours `low` and `low + 1` share a middle: it goes to the even one, anything nearer to one of them goes there.
void expect_rounds_to_nearest_even(Round round, double (*value)(uint32_t), uint16_t low) {
    const auto high = static_cast<uint16_t>(low + 1);
    const double middle = (value(low) + value(high)) / 2;
    const auto m = static_cast<float>(middle);
    ASSERT_EQ(static_cast<double>(m), middle);
    ASSERT_EQ(round(m), low % 2 == 0 ? low : high) << low;
    ASSERT_EQ(round(std::nextafter(m, 0.0F)), low) << low;
    ASSERT_EQ(round(std::nextafter(m, std::numeric_limits<float>::infinity())), high) << low;
    ASSERT_EQ(round(-m), 0x8000 | (low % 2 == 0 ? low : high)) << low;
}

TEST(Half, EveryValueExpandsExactly) {
    for (uint32_t h = 0; h < 65536; ++h) {
        const double expected = half_value(h);
        const float f = half_to_float(static_cast<uint16_t>(h));
        if (std::isnan(expected)) {
            ASSERT_TRUE(std::isnan(f)) << h;
        } else {
            ASSERT_EQ(static_cast<double>(f), expected) << h;
            ASSERT_EQ(std::signbit(f), h >= 0x8000) << h;
        }
    }
}

TEST(Half, EveryValueComesBackFromItsFloat) {
    for (uint32_t h = 0; h < 65536; ++h) {
        const auto half = static_cast<uint16_t>(h);
        if (std::isnan(half_value(h))) {
            ASSERT_TRUE(std::isnan(half_to_float(float_to_half(half_to_float(half))))) << h;
        } else {
            ASSERT_EQ(float_to_half(half_to_float(half)), half);
        }
    }
}

TEST(Half, RoundsToNearestEvenBetweenAllNeighbours) {
    for (uint16_t h = 0; h < 0x7BFF; ++h) {
        expect_rounds_to_nearest_even(float_to_half, half_value, h);
    }
}

TEST(Half, OverflowsHalfAStepBeyondTheLargest) {
    EXPECT_EQ(float_to_half(std::nextafter(65520.0F, 0.0F)), 0x7BFF);
    EXPECT_EQ(float_to_half(65520.0F), 0x7C00);
    EXPECT_EQ(float_to_half(std::numeric_limits<float>::max()), 0x7C00);
    EXPECT_EQ(float_to_half(-std::numeric_limits<float>::infinity()), 0xFC00);
}

TEST(Half, VanishesAtHalfTheSmallest) {
    EXPECT_EQ(float_to_half(0x1p-25F), 0);
    EXPECT_EQ(float_to_half(std::nextafter(0x1p-25F, 1.0F)), 1);
    EXPECT_EQ(float_to_half(-0x1p-25F), 0x8000);
    EXPECT_EQ(float_to_half(std::numeric_limits<float>::denorm_min()), 0);
}

TEST(BrainFloat, EveryValueExpandsExactlyAndComesBack) {
    for (uint32_t h = 0; h < 65536; ++h) {
        const auto bf16 = static_cast<uint16_t>(h);
        const double expected = bf16_value(h);
        const float f = bf16_to_float(bf16);
        if (std::isnan(expected)) {
            ASSERT_TRUE(std::isnan(f)) << h;
            ASSERT_TRUE(std::isnan(bf16_to_float(float_to_bf16(f)))) << h;
        } else {
            ASSERT_EQ(static_cast<double>(f), expected) << h;
            ASSERT_EQ(float_to_bf16(f), bf16);
        }
    }
}

TEST(BrainFloat, RoundsToNearestEvenBetweenAllNeighbours) {
    for (uint16_t h = 0; h < 0x7F7F; ++h) {
        expect_rounds_to_nearest_even(float_to_bf16, bf16_value, h);
    }
}

TEST(BrainFloat, OverflowsToInfinity) { EXPECT_EQ(float_to_bf16(std::numeric_limits<float>::max()), 0x7F80); }

} // namespace
} // namespace schedscope
