#include "runtime/backend/cpu/vectors/vector_ops.h"

#include "runtime/tensor/convert.h"
#include "tests/support/graphs/small_graph.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace schedscope::test {
namespace {

constexpr int64_t lengths[] = {0, 1, 2, 3, 4, 7, 8, 9, 15, 16, 17, 31, 32, 33, 63, 64, 65, 100, 127, 255, 256, 257, 1000, 5000};
constexpr float infinity = std::numeric_limits<float>::infinity();

class VectorOpsOf : public ::testing::TestWithParam<const VectorOps*> {
protected:
    const VectorOps& v = *GetParam();
};

/// Values between ±1, so that a sum's error is bounded by its length.
std::vector<float> xs(int64_t n) { return some_floats(static_cast<size_t>(n) + 1); }
std::vector<float> ys(int64_t n) {
    const auto values = some_floats(static_cast<size_t>(n) + 8);
    return {values.begin() + 7, values.end()};
}
double dot(const float* a, const float* b, int64_t n) {
    double sum = 0;
    for (int64_t i = 0; i < n; ++i) {
        sum += static_cast<double>(a[i]) * static_cast<double>(b[i]);
    }
    return sum;
}
double allowed(int64_t n) { return 1e-6 * std::sqrt(static_cast<double>(n) + 1); }

TEST_P(VectorOpsOf, DotProducts) {
    for (const int64_t n : lengths) {
        const auto a = xs(n);
        const auto b = ys(n);
        EXPECT_NEAR(v.dot_f32(a.data(), b.data(), n), dot(a.data(), b.data(), n), allowed(n)) << n;
        for (const Type type : {Type::F16, Type::BF16}) {
            std::vector<uint16_t> halfs(static_cast<size_t>(n));
            std::vector<float> rounded(static_cast<size_t>(n));
            row_from_float(type, a.data(), halfs.data(), n);
            row_to_float(type, halfs.data(), rounded.data(), n);
            const auto product = type == Type::F16 ? v.dot_f16 : v.dot_bf16;
            EXPECT_NEAR(product(halfs.data(), b.data(), n), dot(rounded.data(), b.data(), n), allowed(n)) << n;
        }
    }
}

TEST_P(VectorOpsOf, ExpandEveryHalf) {
    std::vector<uint16_t> halfs(65536);
    std::iota(halfs.begin(), halfs.end(), uint16_t{0});
    std::vector<float> floats(halfs.size());
    v.half_to_floats(halfs.data(), floats.data(), 65536);
    for (size_t i = 0; i < halfs.size(); ++i) {
        float single = 0;
        v.half_to_floats(&halfs[i], &single, 1);
        const float wanted = half_to_float(halfs[i]);
        if (std::isnan(wanted)) {
            EXPECT_TRUE(std::isnan(floats[i]) && std::isnan(single)) << i;
        } else {
            ASSERT_EQ(std::bit_cast<uint32_t>(floats[i]), std::bit_cast<uint32_t>(wanted)) << i;
            ASSERT_EQ(std::bit_cast<uint32_t>(single), std::bit_cast<uint32_t>(wanted)) << i;
        }
    }
}

// Every half, what lies between it and the next, and both sides of the middle.
TEST_P(VectorOpsOf, RoundToTheNearestHalf) {
    std::vector<float> floats;
    for (uint32_t h = 0; h < 0x7C00U; ++h) {
        const float low = half_to_float(static_cast<uint16_t>(h));
        const float high = h + 1 == 0x7C00U ? 65536.0F : half_to_float(static_cast<uint16_t>(h + 1));
        const float middle = (low + high) / 2;
        for (const float x : {low, std::nextafter(middle, 0.0F), middle, std::nextafter(middle, infinity)}) {
            floats.push_back(x);
            floats.push_back(-x);
        }
    }
    for (const float x :
         {65536.0F, 1e10F, infinity, 1e-30F, std::numeric_limits<float>::denorm_min(), std::numeric_limits<float>::max()}) {
        floats.push_back(x);
        floats.push_back(-x);
    }
    std::vector<uint16_t> halfs(floats.size());
    v.floats_to_half(floats.data(), halfs.data(), static_cast<int64_t>(floats.size()));
    for (size_t i = 0; i < floats.size(); ++i) {
        uint16_t single = 0;
        v.floats_to_half(&floats[i], &single, 1);
        ASSERT_EQ(halfs[i], float_to_half(floats[i])) << floats[i];
        ASSERT_EQ(single, float_to_half(floats[i])) << floats[i];
    }
    const std::vector<float> nans(20, std::numeric_limits<float>::quiet_NaN());
    v.floats_to_half(nans.data(), halfs.data(), 20);
    for (size_t i = 0; i < nans.size(); ++i) {
        EXPECT_TRUE(std::isnan(half_to_float(halfs[i])));
    }
}

/// n rows of `type`, d numbers each, and room behind each; what they hold, as floats.
struct RowsInPlace {
    RowsInPlace(Type type, int64_t n, int64_t d) : stride(row_bytes(type, d) + 12), bytes(stride * static_cast<size_t>(n)) {
        for (int64_t i = 0; i < n; ++i) {
            const auto row = some_floats(static_cast<size_t>((i + 1) * d));
            std::byte* const to = bytes.data() + stride * static_cast<size_t>(i);
            row_from_float(type, row.data() + i * d, to, d);
            floats.emplace_back(static_cast<size_t>(d));
            row_to_float(type, to, floats.back().data(), d);
        }
    }
    size_t stride;
    std::vector<std::byte> bytes;
    std::vector<std::vector<float>> floats;
};

TEST_P(VectorOpsOf, ReadRowsInPlace) {
    for (const Type type :
         {Type::F32, Type::F16, Type::BF16, Type::Q8_0, Type::Q4_0, Type::Q4_1, Type::Q5_0, Type::Q5_1, Type::IQ4_NL}) {
        const RowOps& ops = v.rows[ordinal(type)];
        for (const int64_t d : {1, 5, 16, 32, 33, 64, 80, 96, 150, 160}) {
            if (d % traits(type).block != 0) {
                continue;
            }
            for (const int64_t n : {1, 3, 4, 5, 9}) {
                const RowsInPlace rows(type, n, d);
                for (const int64_t m : {1, 2, 3, 4, 5, 9}) {
                    const int64_t ldx = d + 3, ldo = n + 2;
                    const auto x = xs(m * ldx);
                    std::vector<float> products(static_cast<size_t>(m * ldo), 99.0F);
                    ops.multiply(rows.bytes.data(), rows.stride, n, 2, x.data(), ldx, m, d, products.data(), ldo);
                    const auto weights = ys(m * ldo);
                    auto sums = x;
                    ops.accumulate(rows.bytes.data(), rows.stride, n, 0, weights.data(), ldo, m, d, sums.data(), ldx);
                    for (int64_t j = 0; j < m; ++j) {
                        for (int64_t i = 0; i < ldo; ++i) {
                            const double wanted =
                                i < n ? dot(rows.floats[static_cast<size_t>(i)].data(), x.data() + j * ldx, d) : 99;
                            ASSERT_NEAR(products[static_cast<size_t>(j * ldo + i)], wanted, allowed(d))
                                << n << ' ' << m << ' ' << d;
                        }
                        for (int64_t l = 0; l < ldx; ++l) {
                            auto wanted = static_cast<double>(x[static_cast<size_t>(j * ldx + l)]);
                            for (int64_t i = 0; i < (l < d ? n : 0); ++i) {
                                wanted += static_cast<double>(weights[static_cast<size_t>(j * ldo + i)]) *
                                          static_cast<double>(rows.floats[static_cast<size_t>(i)][static_cast<size_t>(l)]);
                            }
                            ASSERT_NEAR(sums[static_cast<size_t>(j * ldx + l)], wanted, allowed(n)) << n << ' ' << m << ' ' << d;
                        }
                    }
                }
            }
        }
    }
    EXPECT_EQ(v.rows[ordinal(Type::Q4_K)].multiply, nullptr);
    EXPECT_EQ(v.rows[ordinal(Type::Q4_K)].columns_at_once, 0);
}

/// More columns and longer rows than are held at once: each product is the one that two columns give, and near the double's.
TEST_P(VectorOpsOf, MultiplyRowsInPlaceByStretches) {
    constexpr int64_t d = 557, n = 19, m = 67, ldx = d + 3, ldo = n + 2;
    const auto x = xs(m * ldx);
    for (const Type type : {Type::F32, Type::F16, Type::BF16}) {
        const RowOps& ops = v.rows[ordinal(type)];
        const RowsInPlace rows(type, n, d);
        std::vector<float> together(static_cast<size_t>(m * ldo), 99.0F), by_two = together;
        ops.multiply(rows.bytes.data(), rows.stride, n, 2, x.data(), ldx, m, d, together.data(), ldo);
        for (int64_t j = 0; j < m; j += 2) {
            ops.multiply(rows.bytes.data(), rows.stride, n, 0, x.data() + j * ldx, ldx, std::min<int64_t>(2, m - j), d,
                         by_two.data() + j * ldo, ldo);
        }
        EXPECT_EQ(together, by_two) << type_name(type);
        for (int64_t j = 0; j < m; ++j) {
            for (int64_t i = 0; i < n; ++i) {
                ASSERT_NEAR(together[static_cast<size_t>(j * ldo + i)],
                            dot(rows.floats[static_cast<size_t>(i)].data(), x.data() + j * ldx, d), allowed(d));
            }
        }
    }
}

TEST_P(VectorOpsOf, MultiplyRowsOfBf16) {
    ASSERT_EQ(v.bf16.multiply != nullptr, v.name == "avx512bf16");
    if (v.bf16.multiply == nullptr) {
        return;
    }
    constexpr uint16_t not_a_number = 0x7FC0; // what is read beyond a column shows
    for (const int64_t d : {1, 2, 15, 16, 31, 32, 33, 64, 100, 257}) {
        for (const int64_t n : {1, 2, 3, 4, 5, 9}) {
            const RowsInPlace rows(Type::BF16, n, d);
            for (const int64_t m : {1, 2, 3, 5, 6, 7, 13}) {
                const int64_t stride = d + 3, ldo = n + 2;
                const auto x = xs(m * d);
                std::vector<uint16_t> columns(static_cast<size_t>(m * stride), not_a_number);
                std::vector<float> rounded(x.size());
                for (int64_t j = 0; j < m; ++j) {
                    v.bf16.round(x.data() + j * d, d, columns.data() + j * stride);
                    row_to_float(Type::BF16, columns.data() + j * stride, rounded.data() + j * d, d);
                }
                std::vector<float> products(static_cast<size_t>(m * ldo), 99.0F);
                const Bf16Columns read{columns.data(), stride};
                v.bf16.multiply(rows.bytes.data(), rows.stride, n, fetched_ahead, read, m, d, false, products.data(), ldo);
                auto added = products;
                v.bf16.multiply(rows.bytes.data(), rows.stride, n, 0, read, m, d, true, added.data(), ldo);
                for (int64_t j = 0; j < m; ++j) {
                    EXPECT_EQ(columns[static_cast<size_t>(j * stride + d)], not_a_number);
                    for (int64_t i = 0; i < ldo; ++i) {
                        const auto at = static_cast<size_t>(j * ldo + i);
                        if (i >= n) {
                            ASSERT_EQ(products[at], 99.0F) << n << ' ' << m << ' ' << d;
                            ASSERT_EQ(added[at], 99.0F) << n << ' ' << m << ' ' << d;
                            continue;
                        }
                        const double wanted = dot(rows.floats[static_cast<size_t>(i)].data(), rounded.data() + j * d, d);
                        ASSERT_NEAR(products[at], wanted, allowed(d)) << n << ' ' << m << ' ' << d;
                        ASSERT_NEAR(added[at], 2 * wanted, 2 * allowed(d)) << n << ' ' << m << ' ' << d;
                    }
                }
            }
        }
    }
}

// Numbers, what lies between each and the next, and both sides of the middle.
TEST_P(VectorOpsOf, RoundToTheNearestOfBf16) {
    ASSERT_EQ(v.bf16.round != nullptr, v.name == "avx512bf16");
    if (v.bf16.round == nullptr) {
        return;
    }
    std::vector<float> floats;
    for (uint32_t h = 0x80; h < 0x7F80; ++h) {
        const uint32_t low = h << 16U;
        for (const uint32_t bits : {low, low + 1, low + 0x7FFF, low + 0x8000, low + 0x8001, low + 0xFFFF}) {
            floats.push_back(std::bit_cast<float>(bits));
            floats.push_back(-std::bit_cast<float>(bits));
        }
    }
    floats.push_back(infinity);
    floats.push_back(-infinity);
    floats.push_back(0.0F);
    const auto n = static_cast<int64_t>(floats.size());
    std::vector<uint16_t> found(floats.size()), wanted(floats.size());
    v.bf16.round(floats.data(), n, found.data());
    row_from_float(Type::BF16, floats.data(), wanted.data(), n);
    EXPECT_EQ(found, wanted);
    const std::vector<float> nans(19, std::numeric_limits<float>::quiet_NaN());
    v.bf16.round(nans.data(), 19, found.data());
    row_to_float(Type::BF16, found.data(), floats.data(), 19);
    EXPECT_TRUE(std::all_of(floats.begin(), floats.begin() + 19, [](float x) { return std::isnan(x); }));
}

TEST_P(VectorOpsOf, TakeWhatIsTooSmallForANormalFloatInBf16AsZero) {
    if (v.bf16.multiply == nullptr) {
        return;
    }
    std::vector<float> small;
    for (const uint32_t bits : {1U, 0x7FFFU, 0x8000U, 0x400000U, 0x7FFFFFU}) {
        small.push_back(std::bit_cast<float>(bits));
        small.push_back(-std::bit_cast<float>(bits));
    }
    const auto n = static_cast<int64_t>(small.size());
    std::vector<uint16_t> rounded(small.size());
    std::vector<float> values(small.size(), 1);
    v.bf16.round(small.data(), n, rounded.data());
    row_to_float(Type::BF16, rounded.data(), values.data(), n);
    EXPECT_THAT(values, ::testing::Each(0.0F));

    const std::vector<uint16_t> row(64, 0x0040), ones(64, 0x3F80); // 2⁻¹²⁷ and 1
    const float many = 0x1p120F;
    std::vector<uint16_t> large(64);
    v.bf16.round(std::vector<float>(64, many).data(), 64, large.data());
    for (const auto& column : {ones, large}) {
        float product = 1;
        v.bf16.multiply(reinterpret_cast<const std::byte*>(row.data()), 128, 1, 0, {column.data(), 64}, 1, 64, false, &product,
                        1);
        EXPECT_EQ(product, 0.0F);
    }
}

TEST_P(VectorOpsOf, MakeScores) {
    const float nan = std::numeric_limits<float>::quiet_NaN();
    for (const int64_t n : lengths) {
        for (const float cap : {0.0F, 1.5F}) {
            for (const bool masked : {false, true}) {
                auto x = xs(n);
                std::vector<uint16_t> mask(x.size());
                for (size_t i = 0; i < x.size(); ++i) {
                    mask[i] = float_to_half(i % 5 == 3 ? -infinity : static_cast<float>(i % 7) / -4.0F);
                    x[i] = i % 5 == 3 && masked ? nan : 9 * x[i]; // what is not seen may hold anything
                }
                auto scores = x;
                const float top = v.scores(scores.data(), n, {0.5F, cap, 0.25F, masked ? mask.data() : nullptr});
                double highest = -HUGE_VAL;
                for (size_t i = 0; i < static_cast<size_t>(n); ++i) {
                    double wanted = 0.5 * static_cast<double>(x[i]);
                    wanted = cap != 0 ? 1.5 * std::tanh(wanted / 1.5) : wanted;
                    wanted = masked ? (i % 5 == 3 ? -HUGE_VAL : wanted - 0.25 * static_cast<double>(i % 7) / 4) : wanted;
                    highest = std::max(highest, wanted);
                    ASSERT_TRUE(wanted == -HUGE_VAL ? scores[i] == -infinity
                                                    : std::abs(static_cast<double>(scores[i]) - wanted) < 1e-6)
                        << scores[i] << ' ' << wanted;
                }
                EXPECT_TRUE(highest == -HUGE_VAL ? top == -infinity : std::abs(static_cast<double>(top) - highest) < 1e-6);
            }
        }
    }
    std::vector<float> x(20, -2.0F);
    x[3] = x[18] = nan;
    EXPECT_EQ(v.scores(x.data(), 20, {}), -2.0F) << "no number is not the highest";
    EXPECT_TRUE(std::isnan(x[3]) && std::isnan(x[18])) << "but stays";
}

TEST_P(VectorOpsOf, AddWeightedRows) {
    for (const int64_t k : {1, 3, 20}) {
        for (const int64_t m : {1, 4, 15, 16, 33, 70, 130}) {
            for (const int64_t n : {1, 2, 5, 6, 7, 13}) {
                const int64_t lda = m + 3, ldb = k + 1, ldc = m + 2;
                const auto a = xs(k * lda);
                const auto b = ys(n * ldb);
                const auto before = xs(n * ldc);
                auto c = before;
                v.accumulate(a.data(), lda, m, b.data(), ldb, n, k, c.data(), ldc);
                for (int64_t j = 0; j < n; ++j) {
                    for (int64_t i = 0; i < ldc; ++i) {
                        const auto at = static_cast<size_t>(j * ldc + i);
                        auto wanted = static_cast<double>(before[at]);
                        for (int64_t l = 0; l < (i < m ? k : 0); ++l) {
                            wanted += static_cast<double>(a[static_cast<size_t>(l * lda + i)]) *
                                      static_cast<double>(b[static_cast<size_t>(j * ldb + l)]);
                        }
                        ASSERT_NEAR(c[at], wanted, allowed(k)) << m << " × " << n << " × " << k;
                    }
                }
            }
        }
    }
}

TEST_P(VectorOpsOf, TransposeRows) {
    for (const int64_t m : {1, 3, 4, 15, 16, 17, 40}) {
        for (const int64_t n : {1, 4, 7, 8, 16, 31, 64}) {
            const int64_t ldi = n + 3, ldo = m + 2;
            const auto in = xs(m * ldi);
            const auto before = ys(n * ldo);
            auto out = before;
            v.transpose(in.data(), ldi, m, n, out.data(), ldo);
            for (int64_t l = 0; l < n; ++l) {
                for (int64_t i = 0; i < ldo; ++i) {
                    const auto at = static_cast<size_t>(l * ldo + i);
                    ASSERT_EQ(out[at], i < m ? in[static_cast<size_t>(i * ldi + l)] : before[at]) << m << " × " << n;
                }
            }
        }
    }
}

TEST_P(VectorOpsOf, Sums) {
    for (const int64_t n : lengths) {
        const auto x = xs(n);
        double sum = 0, squares = 0;
        float top = -infinity;
        for (int64_t i = 0; i < n; ++i) {
            const auto value = static_cast<double>(x[static_cast<size_t>(i)]);
            sum += value;
            squares += value * value;
            top = std::max(top, x[static_cast<size_t>(i)]);
        }
        EXPECT_NEAR(v.sum(x.data(), n), sum, allowed(n));
        EXPECT_NEAR(v.sum_of_squares(x.data(), n), squares, allowed(n));
        EXPECT_EQ(v.max(x.data(), n), top);
    }
}

TEST_P(VectorOpsOf, LongSumsKeepTheirPrecision) {
    const std::vector<float> x(1'000'003, 0.1F);
    const double each = static_cast<double>(0.1F);
    EXPECT_NEAR(v.sum(x.data(), 1'000'003) / (each * 1'000'003), 1.0, 1e-6);
    EXPECT_NEAR(v.sum_of_squares(x.data(), 1'000'003) / (each * each * 1'000'003), 1.0, 1e-6);
}

TEST_P(VectorOpsOf, ElementsWithElements) {
    for (const int64_t n : lengths) {
        const auto x = xs(n);
        const auto y = ys(n);
        const auto size = static_cast<size_t>(n);
        std::vector<float> added(size + 1, 77.0F), multiplied = added, scaled = added, weighted = added, summed = y;
        v.add(x.data(), y.data(), added.data(), n);
        v.multiply_elements(x.data(), y.data(), multiplied.data(), n);
        v.scale(x.data(), 1.7F, 0.3F, scaled.data(), n);
        v.scale_multiply(x.data(), 1.7F, y.data(), weighted.data(), n);
        v.add_scaled(summed.data(), x.data(), -0.6F, n);
        for (size_t i = 0; i < size; ++i) {
            EXPECT_EQ(added[i], x[i] + y[i]);
            EXPECT_EQ(multiplied[i], x[i] * y[i]);
            EXPECT_NEAR(scaled[i], x[i] * 1.7F + 0.3F, 3e-7F);
            EXPECT_NEAR(weighted[i], x[i] * 1.7F * y[i], 3e-7F);
            EXPECT_NEAR(summed[i], y[i] - x[i] * 0.6F, 3e-7F);
        }
        EXPECT_EQ(added[size], 77.0F);
        EXPECT_EQ(multiplied[size], 77.0F);
        EXPECT_EQ(scaled[size], 77.0F);
        EXPECT_EQ(weighted[size], 77.0F);
        EXPECT_EQ(summed[size], y[size]);
    }
}

/// How many floats lie between two of the same sign.
int64_t floats_between(float a, float b) {
    return std::abs(static_cast<int64_t>(std::bit_cast<int32_t>(a)) - static_cast<int64_t>(std::bit_cast<int32_t>(b)));
}

TEST_P(VectorOpsOf, ExponentialIsExactToTwoUnitsOfTheLastPlace) {
    std::vector<float> x;
    for (float value = -87.3F; value < 88.7F; value += 0.0037F) {
        x.push_back(value);
    }
    std::vector<float> y(x.size());
    v.exp_sum(x.data(), 0.0F, y.data(), static_cast<int64_t>(x.size()));
    for (size_t i = 0; i < x.size(); ++i) {
        const double wanted = std::exp(static_cast<double>(x[i]));
        ASSERT_LE(floats_between(y[i], static_cast<float>(wanted)), 2) << "exp(" << x[i] << ")";
    }
}

TEST_P(VectorOpsOf, ExponentialAtTheEnds) {
    for (const int64_t n : {1, 40}) { // one by one, and by vectors
        const auto of = [&](float x) {
            const std::vector<float> in(static_cast<size_t>(n), x);
            std::vector<float> out(in.size());
            v.exp_sum(in.data(), 0.0F, out.data(), n);
            for (const float y : out) {
                EXPECT_EQ(std::bit_cast<uint32_t>(y), std::bit_cast<uint32_t>(out[0]));
            }
            return out[0];
        };
        EXPECT_EQ(of(0.0F), 1.0F);
        EXPECT_EQ(of(-infinity), 0.0F);
        EXPECT_EQ(of(-200.0F), 0.0F);
        EXPECT_EQ(of(infinity), infinity);
        EXPECT_EQ(of(200.0F), infinity);
        EXPECT_TRUE(std::isnan(of(std::numeric_limits<float>::quiet_NaN())));
    }
}

TEST_P(VectorOpsOf, ExponentialsAreShiftedAndSummed) {
    for (const int64_t n : lengths) {
        const auto x = xs(n);
        std::vector<float> y(static_cast<size_t>(n) + 1, 55.0F);
        const double sum = v.exp_sum(x.data(), 1.0F, y.data(), n);
        double wanted = 0;
        for (size_t i = 0; i < static_cast<size_t>(n); ++i) {
            const double e = std::exp(static_cast<double>(x[i]) - 1);
            EXPECT_NEAR(y[i], e, 3e-7 * e);
            wanted += e;
        }
        EXPECT_NEAR(sum, wanted, 1e-6 * wanted);
        EXPECT_EQ(y[static_cast<size_t>(n)], 55.0F);
    }
}

TEST_P(VectorOpsOf, Silu) {
    std::vector<float> x;
    for (float value = -110.0F; value < 110.0F; value += 0.0713F) {
        x.push_back(value);
    }
    std::vector<float> y(x.size());
    v.silu(x.data(), y.data(), static_cast<int64_t>(x.size()));
    for (size_t i = 0; i < x.size(); ++i) {
        const auto value = static_cast<double>(x[i]);
        const double wanted = value / (1 + std::exp(-value));
        EXPECT_NEAR(y[i], wanted, 5e-7 * std::abs(wanted) + 1e-35) << x[i];
    }
}

TEST_P(VectorOpsOf, WorkInPlace) {
    const auto x = xs(100);
    auto in_place = x;
    std::vector<float> apart(100);
    v.exp_sum(x.data(), 0.5F, apart.data(), 100);
    v.exp_sum(in_place.data(), 0.5F, in_place.data(), 100);
    EXPECT_TRUE(std::equal(apart.begin(), apart.end(), in_place.begin()));
    in_place = x;
    v.scale_multiply(x.data(), 0.3F, x.data(), apart.data(), 100);
    v.scale_multiply(in_place.data(), 0.3F, in_place.data(), in_place.data(), 100);
    EXPECT_TRUE(std::equal(apart.begin(), apart.end(), in_place.begin()));
}

INSTANTIATE_TEST_SUITE_P(All, VectorOpsOf, ::testing::ValuesIn(usable_vector_ops().begin(), usable_vector_ops().end()),
                         [](const auto& info) { return std::string(info.param->name); });

TEST(VectorOps, PortableIsAlwaysThereAndTheWidestIsLast) {
    const auto usable = usable_vector_ops();
    ASSERT_FALSE(usable.empty());
    EXPECT_EQ(usable.front()->name, "portable");
    EXPECT_EQ(&best_vector_ops(), usable.back());
}

} // namespace
} // namespace schedscope::test
