// Floats to blocks and back: how far a value may be off, by the format's step, and what must come back exactly.
#include "runtime/tensor/convert.h"

#include <algorithm>
#include <cmath>
#include <gtest/gtest.h>
#include <limits>
#include <random>
#include <vector>

namespace schedscope {
namespace {

std::vector<float> there_and_back(Type type, const std::vector<float>& x) {
    std::vector<uint16_t> storage(row_bytes(type, static_cast<int64_t>(x.size())) / 2 + 1);
    std::vector<float> y(x.size());
    EXPECT_TRUE(row_from_float(type, x.data(), storage.data(), static_cast<int64_t>(x.size())));
    EXPECT_TRUE(row_to_float(type, storage.data(), y.data(), static_cast<int64_t>(x.size())));
    return y;
}

struct QuantiseStep {
    Type type;
    double of_range; ///< largest error, as a part of the block's extent: half a step, and what the half-precision scale adds
    bool from_zero;  ///< the extent is the largest size; otherwise max − min
};

void PrintTo(const QuantiseStep& s, std::ostream* out) { *out << type_name(s.type); }

class Quantise : public ::testing::TestWithParam<QuantiseStep> {};

TEST_P(Quantise, StaysWithinHalfAStep) {
    const QuantiseStep& step = GetParam();
    std::mt19937 random(5);
    std::normal_distribution<float> normal(0.3F, 1.0F);
    std::vector<float> x(256 * 32);
    std::generate(x.begin(), x.end(), [&] { return normal(random); });
    const auto y = there_and_back(step.type, x);
    for (size_t block = 0; block < x.size(); block += 32) {
        const auto [low, high] = std::minmax_element(&x[block], &x[block] + 32);
        const double extent = step.from_zero ? std::max(std::fabs(*low), std::fabs(*high)) : *high - *low;
        const double scale_error = std::max(std::fabs(*low), std::fabs(*high)) * 0x1p-10;
        for (size_t i = block; i < block + 32; ++i) {
            ASSERT_NEAR(y[i], x[i], extent * step.of_range + scale_error) << i;
        }
    }
}

TEST_P(Quantise, KeepsZeros) {
    const auto y = there_and_back(GetParam().type, std::vector<float>(64, 0.0F));
    EXPECT_EQ(y, std::vector<float>(64, 0.0F));
}

TEST_P(Quantise, SurvivesWhatIsNoNumber) {
    std::vector<float> x(32, 1.0F);
    x[3] = std::numeric_limits<float>::quiet_NaN();
    x[7] = std::numeric_limits<float>::infinity();
    x[9] = -std::numeric_limits<float>::max();
    there_and_back(GetParam().type, x);
}

// Q*_0: 2^bits steps between −extreme and +extreme, of which the last one opposite the extreme is missing.
INSTANTIATE_TEST_SUITE_P(Types, Quantise,
                         ::testing::Values(QuantiseStep{Type::Q4_0, 1.0 / 8, true}, QuantiseStep{Type::Q4_1, 0.5 / 15, false},
                                           QuantiseStep{Type::Q5_0, 1.0 / 16, true}, QuantiseStep{Type::Q5_1, 0.5 / 31, false},
                                           QuantiseStep{Type::Q8_0, 0.5 / 127, true},
                                           QuantiseStep{Type::MXFP4, 0.25, true}), // 6 is the nearest to a little less than 8

                         [](const auto& param) { return std::string(type_name(param.param.type)); });

struct Noise {
    Type type;
    double most; ///< root mean square error of normally distributed values with deviation 1
};

void PrintTo(const Noise& n, std::ostream* out) { *out << type_name(n.type); }

class QuantiseSuperBlocks : public ::testing::TestWithParam<Noise> {};

TEST_P(QuantiseSuperBlocks, KeepsTheNoiseLow) {
    std::mt19937 random(5);
    std::normal_distribution<float> normal(0.0F, 1.0F);
    std::vector<float> x(256 * 64);
    std::generate(x.begin(), x.end(), [&] { return normal(random); });
    const auto y = there_and_back(GetParam().type, x);
    double sum = 0;
    for (size_t i = 0; i < x.size(); ++i) {
        sum += std::pow(static_cast<double>(y[i]) - x[i], 2);
    }
    const double noise = std::sqrt(sum / static_cast<double>(x.size()));
    EXPECT_LT(noise, GetParam().most);
    EXPECT_GT(noise, GetParam().most / 2); // the bound means something
}

TEST_P(QuantiseSuperBlocks, KeepsZerosAndSurvivesWhatIsNoNumber) {
    EXPECT_EQ(there_and_back(GetParam().type, std::vector<float>(256, 0.0F)), std::vector<float>(256, 0.0F));
    std::vector<float> x(256, 1.0F);
    x[3] = std::numeric_limits<float>::quiet_NaN();
    x[70] = std::numeric_limits<float>::infinity();
    x[200] = -std::numeric_limits<float>::max();
    there_and_back(GetParam().type, x);
}

TEST_P(QuantiseSuperBlocks, GroupsOfDifferentSizeDoNotDisturbEachOther) {
    std::vector<float> x(256, 0.0F);
    x[0] = 8.0F;
    x[255] = -4.0F;
    const auto y = there_and_back(GetParam().type, x);
    EXPECT_NEAR(y[0], 8.0F, 0.6F);
    EXPECT_NEAR(y[255], -4.0F, 0.5F);
    for (size_t i = 32; i < 224; ++i) {
        EXPECT_EQ(y[i], 0.0F) << i;
    }
}

INSTANTIATE_TEST_SUITE_P(Types, QuantiseSuperBlocks,
                         ::testing::Values(Noise{Type::Q2_K, 0.4}, Noise{Type::Q3_K, 0.2}, Noise{Type::Q4_K, 0.1},
                                           Noise{Type::Q5_K, 0.05}, Noise{Type::Q6_K, 0.025}, Noise{Type::IQ4_NL, 0.12},
                                           Noise{Type::IQ4_XS, 0.12}),
                         [](const auto& param) { return std::string(type_name(param.param.type)); });

TEST(Quantise, WholeNumbersOfTheScaleComeBackExactly) {
    std::vector<float> x(32);
    for (size_t i = 0; i < x.size(); ++i) {
        x[i] = static_cast<float>(static_cast<int>(i) - 16) * 0.25F; // −4 … 3.75: a step of 0.25 with 5 bits
    }
    EXPECT_EQ(there_and_back(Type::Q5_0, x), x);
    EXPECT_EQ(there_and_back(Type::Q5_1, x), x);
    x.assign(32, 0.5F);
    x[4] = -63.5F;
    EXPECT_EQ(there_and_back(Type::Q8_0, x), x);
}

TEST(Quantise, NumbersOfFp4ComeBackExactly) {
    std::vector<float> x(32);
    const std::vector<float> numbers = {0, 0.5, 1, 1.5, 2, 3, 4, 6};
    for (size_t i = 0; i < x.size(); ++i) {
        x[i] = numbers[i % 8] * (i % 16 < 8 ? 0x1p-9F : -0x1p-9F);
    }
    EXPECT_EQ(there_and_back(Type::MXFP4, x), x);
}

TEST(Quantise, ThreeNumbersComeBackExactly) {
    for (const Type type : {Type::TQ1_0, Type::TQ2_0}) {
        std::mt19937 random(5);
        std::vector<float> x(512);
        for (float& v : x) {
            v = (static_cast<float>(random() % 3) - 1) * 0.375F;
        }
        EXPECT_EQ(there_and_back(type, x), x) << type_name(type);
        EXPECT_EQ(there_and_back(type, std::vector<float>(256, 0.0F)), std::vector<float>(256, 0.0F));
        x[3] = std::numeric_limits<float>::quiet_NaN();
        x[300] = std::numeric_limits<float>::infinity();
        const auto y = there_and_back(type, x);
        EXPECT_TRUE(std::all_of(y.begin(), y.begin() + 256, [](float v) { return std::fabs(v) <= 0.375F; })) << type_name(type);
    }
}

TEST(Quantise, TheExtremeKeepsItsSignInQ4_0) {
    std::vector<float> x(32, 0.0F);
    x[17] = 8.0F;
    EXPECT_EQ(there_and_back(Type::Q4_0, x)[17], 8.0F);
    x[17] = -8.0F;
    EXPECT_EQ(there_and_back(Type::Q4_0, x)[17], -8.0F);
}

TEST(Quantise, SmallFloatTypesRound) {
    const std::vector<float> x = {1.0F, -2.5F, 1.0009765F, 65504.0F};
    EXPECT_EQ(there_and_back(Type::F16, x), (std::vector<float>{1.0F, -2.5F, 1.0009765625F, 65504.0F}));
    EXPECT_EQ(there_and_back(Type::BF16, {1.0F, 1.00390625F, 1.01171875F}), (std::vector<float>{1.0F, 1.0F, 1.015625F}));
    EXPECT_EQ(there_and_back(Type::F32, x), x);
}

} // namespace
} // namespace schedscope
