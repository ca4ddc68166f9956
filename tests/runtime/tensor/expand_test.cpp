// Quantised blocks of random bytes, element by element, against the format's definition computed in double precision.
#include "runtime/tensor/convert.h"

#include <array>
#include <cmath>
#include <cstring>
#include <functional>
#include <gtest/gtest.h>
#include <limits>
#include <random>
#include <vector>

namespace schedscope {
namespace {

using Bytes = const uint8_t*;

double half_at(Bytes b, int at) {
    const int bits = b[at] | b[at + 1] << 8;
    const int exponent = bits >> 10 & 31;
    const double size = exponent == 0 ? std::ldexp(bits & 1023, -24) : std::ldexp((bits & 1023) + 1024, exponent - 25);
    return bits >> 15 != 0 ? -size : size;
}

/// Bits [at, at + width) of a little-endian bit string.
int bits(Bytes b, int at, int width) {
    int v = 0;
    for (int i = 0; i < width; ++i) {
        v |= (b[(at + i) / 8] >> (at + i) % 8 & 1) << i;
    }
    return v;
}

int four(Bytes qs, int i) { return i < 16 ? qs[i] % 16 : qs[i - 16] / 16; }
int fifth(Bytes qh, int i) { return 16 * bits(qh, i, 1); }

/// The eight 6-bit pairs of Q4_K and Q5_K: the first four plainly, the other four in the upper bits and two nibbles.
int k_scale(Bytes s, int g) { return g < 4 ? s[g] % 64 : s[g + 4] % 16 + 16 * (s[g - 4] / 64); }
int k_min(Bytes s, int g) { return g < 4 ? s[g + 4] % 64 : s[g + 4] / 16 + 16 * (s[g] / 64); }

int iq4(int q) {
    static const std::array<int, 16> steps = {-127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113};
    return steps[static_cast<size_t>(q)];
}

double q2_k(Bytes b, int i) {
    const int group = i / 16;
    const int q = bits(b + 16 + 32 * (i / 128) + i % 32, 2 * (i % 128 / 32), 2);
    return half_at(b, 80) * (b[group] % 16) * q - half_at(b, 82) * (b[group] / 16);
}

double q3_k(Bytes b, int i) {
    const int group = i / 16;
    const int low = bits(b + 32 + 32 * (i / 128) + i % 32, 2 * (i % 128 / 32), 2);
    const int high = bits(b + i % 32, i / 32, 1);
    // 16 scales of 6 bits: nibbles in bytes 0 … 7, upper pairs in bytes 8 … 11.
    const int scale = bits(b + 96 + group % 8, group < 8 ? 0 : 4, 4) + 16 * bits(b + 104 + group % 4, 2 * (group / 4), 2);
    return half_at(b, 108) * (scale - 32) * (low + 4 * high - 4);
}

double q4_k(Bytes b, int i) {
    const int group = i / 32;
    const int q = bits(b + 16 + 32 * (i / 64) + i % 32, 4 * (group % 2), 4);
    return half_at(b, 0) * k_scale(b + 4, group) * q - half_at(b, 2) * k_min(b + 4, group);
}

double q5_k(Bytes b, int i) {
    const int group = i / 32;
    const int q = bits(b + 48 + 32 * (i / 64) + i % 32, 4 * (group % 2), 4) + 16 * bits(b + 16 + i % 32, group, 1);
    return half_at(b, 0) * k_scale(b + 4, group) * q - half_at(b, 2) * k_min(b + 4, group);
}

double q6_k(Bytes b, int i) {
    const int half = i / 128;
    const int part = i % 128 / 32;
    const int low = bits(b + 64 * half + 32 * (part % 2) + i % 32, 4 * (part / 2), 4);
    const int high = bits(b + 128 + 32 * half + i % 32, 2 * part, 2);
    return half_at(b, 208) * static_cast<int8_t>(b[192 + i / 16]) * (low + 16 * high - 32);
}

double iq4_xs(Bytes b, int i) {
    const int group = i / 32;
    const int scale = bits(b + 4, 4 * group, 4) + 16 * bits(b + 2, 2 * group, 2);
    return half_at(b, 0) * (scale - 32) * iq4(four(b + 8 + 16 * group, i % 32));
}

double mxfp4(Bytes b, int i) {
    static const std::array<double, 8> sizes = {0, 0.5, 1, 1.5, 2, 3, 4, 6};
    const int q = four(b + 1, i);
    return std::ldexp(sizes[static_cast<size_t>(q % 8)] * (q < 8 ? 1 : -1), b[0] - 127);
}

/// Five numbers a byte in stretches of 32 bytes, of 16 and, four a byte, of 4: digits of base 3 behind the point.
double tq1_0(Bytes b, int i) {
    const int begin = i < 160 ? 0 : i < 240 ? 160 : 240;
    const int width = i < 160 ? 32 : i < 240 ? 16 : 4;
    const int first_byte = i < 160 ? 0 : i < 240 ? 32 : 48;
    double fraction = b[first_byte + (i - begin) % width] / 256.0;
    int digit = 0;
    for (int place = 0; place <= (i - begin) / width; ++place) {
        fraction *= 3;
        digit = static_cast<int>(fraction);
        fraction -= digit;
    }
    return half_at(b, 52) * (digit - 1);
}

double tq2_0(Bytes b, int i) { return half_at(b, 64) * (bits(b + 32 * (i / 128) + i % 32, 2 * (i % 128 / 32), 2) - 1); }

struct Format {
    Type type;
    std::vector<int> halfs; ///< where
    std::function<double(Bytes, int)> element;
};

void PrintTo(const Format& f, std::ostream* out) { *out << type_name(f.type); }

class Expand : public ::testing::TestWithParam<Format> {};

TEST_P(Expand, RandomBlocksAsDefined) {
    const Format& format = GetParam();
    const TypeTraits& t = traits(format.type);
    constexpr int blocks = 200;
    std::mt19937 random(11);
    std::vector<uint16_t> storage(t.bytes * blocks / 2);
    auto* bytes = reinterpret_cast<uint8_t*>(storage.data());
    for (size_t i = 0; i < t.bytes * blocks; ++i) {
        bytes[i] = static_cast<uint8_t>(random());
    }
    for (int b = 0; b < blocks; ++b) {
        for (const int at : format.halfs) {
            bytes[static_cast<size_t>(b) * t.bytes + static_cast<size_t>(at) + 1] &= 0xBF; // finite, below 2
        }
    }
    std::vector<float> row(static_cast<size_t>(t.block) * blocks);
    ASSERT_TRUE(row_to_float(format.type, bytes, row.data(), static_cast<int64_t>(row.size())));
    for (size_t i = 0; i < row.size(); ++i) {
        const auto block = i / static_cast<size_t>(t.block);
        const double expected = format.element(bytes + block * t.bytes, static_cast<int>(i % static_cast<size_t>(t.block)));
        if (std::fabs(expected) > std::numeric_limits<float>::max()) { // MXFP4 reaches further
            ASSERT_EQ(row[i], std::copysign(HUGE_VALF, expected)) << "element " << i;
            continue;
        }
        // Two products and a difference in single precision.
        ASSERT_NEAR(row[i], expected, 1e-6 * std::fabs(expected) + 2e-3 * 0x1p-10) << "element " << i;
    }
}

INSTANTIATE_TEST_SUITE_P(
    Types, Expand,
    ::testing::Values(
        Format{Type::Q4_0, {0}, [](Bytes b, int i) { return half_at(b, 0) * (four(b + 2, i) - 8); }},
        Format{Type::Q4_1, {0, 2}, [](Bytes b, int i) { return half_at(b, 0) * four(b + 4, i) + half_at(b, 2); }},
        Format{Type::Q5_0, {0}, [](Bytes b, int i) { return half_at(b, 0) * (four(b + 6, i) + fifth(b + 2, i) - 16); }},
        Format{Type::Q5_1,
               {0, 2},
               [](Bytes b, int i) { return half_at(b, 0) * (four(b + 8, i) + fifth(b + 4, i)) + half_at(b, 2); }},
        Format{Type::Q8_0, {0}, [](Bytes b, int i) { return half_at(b, 0) * static_cast<int8_t>(b[2 + i]); }},
        Format{Type::IQ4_NL, {0}, [](Bytes b, int i) { return half_at(b, 0) * iq4(four(b + 2, i)); }},
        Format{Type::Q2_K, {80, 82}, q2_k}, Format{Type::Q3_K, {108}, q3_k}, Format{Type::Q4_K, {0, 2}, q4_k},
        Format{Type::Q5_K, {0, 2}, q5_k}, Format{Type::Q6_K, {208}, q6_k}, Format{Type::IQ4_XS, {0}, iq4_xs},
        Format{Type::MXFP4, {}, mxfp4}, Format{Type::TQ1_0, {52}, tq1_0}, Format{Type::TQ2_0, {64}, tq2_0}),
    [](const auto& param) { return std::string(type_name(param.param.type)); });

TEST(Convert, KnowsWhatItCanExpandAndQuantise) {
    for (int i = 0; i < static_cast<int>(Type::count); ++i) {
        const auto type = static_cast<Type>(i);
        const bool integer = type == Type::I8 || type == Type::I16 || type == Type::I32 || type == Type::I64;
        EXPECT_EQ(can_expand(type), !integer && type != Type::F64) << type_name(type);
        EXPECT_TRUE(!can_quantise(type) || can_expand(type)) << type_name(type);
    }
}

} // namespace
} // namespace schedscope
