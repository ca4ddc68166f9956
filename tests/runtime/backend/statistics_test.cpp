#include "runtime/backend/cpu/cpu_device.h"
#include "runtime/backend/statistics.h"
#include "runtime/backend/tensor_rows.h"
#include "tests/support/graphs/row_of_floats.h"
#include "tests/support/graphs/small_graph.h"
#include "tests/support/vulkan_devices.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numeric>

namespace schedscope::test {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;

constexpr float nan = std::numeric_limits<float>::quiet_NaN();
constexpr float inf = std::numeric_limits<float>::infinity();

/// The same numbers in the plainest way. `values`: all elements in order.
void expect_statistics_of(const std::vector<double>& values, const Statistics& s) {
    double min = INFINITY, max = -INFINITY, sum = 0, squares = 0;
    int64_t n_nan = 0, n_inf = 0;
    for (const double x : values) {
        n_nan += x != x;
        n_inf += x == INFINITY || x == -INFINITY;
        if (std::isfinite(x)) {
            min = x < min ? x : min;
            max = x > max ? x : max;
            sum += x;
            squares += x * x;
        }
    }
    const auto n = static_cast<int64_t>(values.size());
    EXPECT_EQ(s.n_elements, n);
    EXPECT_EQ(s.n_nan, n_nan);
    EXPECT_EQ(s.n_inf, n_inf);
    EXPECT_EQ(s.min, min);
    EXPECT_EQ(s.max, max);
    EXPECT_DOUBLE_EQ(s.mean, sum / static_cast<double>(n - n_nan - n_inf));
    EXPECT_DOUBLE_EQ(s.norm, std::sqrt(squares));
    EXPECT_EQ(std::accumulate(s.histogram.begin(), s.histogram.end(), int64_t{0}), n - n_nan - n_inf);
    for (size_t part = 0; part < n_histogram_parts; ++part) {
        const double low = min + (max - min) * static_cast<double>(part) / 32;
        const double high = min + (max - min) * static_cast<double>(part + 1) / 32;
        const double close = (max - min) * 1e-12; // an element that lies on the border may count on either side
        int64_t surely = 0, perhaps = 0;
        for (const double x : values) {
            surely += x >= low + close && (x < high - close || (part == 31 && x <= max));
            perhaps += x >= low - close && x <= high + close;
        }
        EXPECT_GE(s.histogram[part], surely) << part;
        EXPECT_LE(s.histogram[part], perhaps) << part;
    }
}

class StatisticsOf : public ::testing::Test {
protected:
    StatisticsOf() : device_(make_cpu_device()) {}
    /// A tensor of the type that holds the floats.
    Tensor* filled(Type type, const Shape& ne, const std::vector<float>& floats) {
        Tensor* t = g_.graph.input(type, ne, "t");
        g_.place(*device_, t);
        std::vector<std::byte> bytes(n_bytes(*t));
        for (int64_t r = 0; r < schedscope::n_rows(*t); ++r) {
            row_of_floats(type, floats.data() + r * ne[0], bytes.data() + static_cast<size_t>(r) * t->nb[1], ne[0]);
        }
        tensor_write(*t, bytes.data(), 0, bytes.size());
        return t;
    }
    static std::vector<double> doubles(const std::vector<float>& floats) { return {floats.begin(), floats.end()}; }

    SmallGraph g_;
    std::unique_ptr<Device> device_;
};

TEST_F(StatisticsOf, FloatsAreThoseOfAPlainLoop) {
    const std::vector<float> values = some_floats(7 * 5 * 3);
    const Statistics s = statistics(*filled(Type::F32, {7, 5, 3, 1}, values), 8);
    expect_statistics_of(doubles(values), s);
    EXPECT_EQ(s.first, std::vector<double>(values.begin(), values.begin() + 8));
}

TEST_F(StatisticsOf, NumbersThatAreNotFiniteAreCountedAndLeftOut) {
    const std::vector<float> values{1, nan, -2, inf, 4, -inf, nan, 0.5F};
    const Statistics s = statistics(*filled(Type::F32, {4, 2, 1, 1}, values), 3);
    expect_statistics_of(doubles(values), s);
    EXPECT_EQ(s.min, -2);
    EXPECT_EQ(s.max, 4);
    ASSERT_EQ(s.first.size(), 3U);
    EXPECT_TRUE(std::isnan(s.first[1]));
}

TEST_F(StatisticsOf, NothingFiniteHasNoRange) {
    const Statistics s = statistics(*filled(Type::F32, {2, 1, 1, 1}, {nan, inf}), 8);
    EXPECT_TRUE(std::isnan(s.min) && std::isnan(s.max) && std::isnan(s.mean) && std::isnan(s.norm));
    EXPECT_THAT(s.histogram, Each(0));
    EXPECT_EQ(s.n_nan + s.n_inf, 2);
}

TEST_F(StatisticsOf, EqualElementsLieInTheFirstPart) {
    const Statistics s = statistics(*filled(Type::F32, {5, 1, 1, 1}, {3, 3, 3, 3, 3}), 2);
    EXPECT_EQ(s.histogram[0], 5);
    EXPECT_THAT(s.first, ElementsAre(3, 3));
    EXPECT_EQ(s.min, s.max);
}

TEST_F(StatisticsOf, NoElementsAreNoData) {
    Tensor empty;
    empty.ne = {4, 0, 1, 1};
    empty.nb = contiguous_strides(Type::F32, empty.ne);
    const Statistics s = statistics(empty, 8); // it has no buffer, either
    EXPECT_EQ(s.n_elements, 0);
    EXPECT_TRUE(std::isnan(s.min));
    EXPECT_TRUE(s.first.empty());
}

TEST_F(StatisticsOf, HalfFloatsAreThoseOfWhatTheyHold) {
    for (const Type type : {Type::F16, Type::BF16}) {
        const std::vector<float> values = some_floats(64);
        const Tensor& t = *filled(type, {16, 4, 1, 1}, values);
        std::vector<float> held(64);
        row_to_float(type, host_data(t), held.data(), 64);
        expect_statistics_of(doubles(held), statistics(t, 8));
    }
}

TEST_F(StatisticsOf, QuantisedTensorsAreThoseOfWhatTheyHold) {
    for (const Type type :
         {Type::Q4_0, Type::Q8_0, Type::Q4_K, Type::Q6_K, Type::IQ4_NL, Type::MXFP4, Type::TQ1_0, Type::IQ2_XS}) {
        const std::vector<float> values = some_floats(512);
        const Tensor& t = *filled(type, {256, 2, 1, 1}, values);
        std::vector<float> held(512);
        row_to_float(type, host_data(t), held.data(), 512);
        expect_statistics_of(doubles(held), statistics(t, 8));
    }
}

template <typename T> void write_numbers(const Tensor& t, const std::vector<T>& numbers) {
    tensor_write(t, numbers.data(), 0, numbers.size() * sizeof(T));
}

TEST_F(StatisticsOf, WholeNumbersKeepAllTheirDigits) {
    Tensor* t = g_.graph.input(Type::I32, {4, 1, 1, 1}, "ids");
    g_.place(*device_, t);
    write_numbers<int32_t>(*t, {16777217, -3, 0, 2147483647});
    const Statistics s = statistics(*t, 8);
    EXPECT_THAT(s.first, ElementsAre(16777217.0, -3.0, 0.0, 2147483647.0));
    EXPECT_EQ(s.max, 2147483647.0);
    EXPECT_EQ(s.mean, (16777217.0 - 3 + 2147483647.0) / 4);
}

TEST_F(StatisticsOf, WideNumbersHaveBucketsEvenWhereTheirDifferenceOverflows) {
    Tensor* t = g_.graph.input(Type::F64, {3, 1, 1, 1}, "wide");
    g_.place(*device_, t);
    write_numbers<double>(*t, {-1.7e308, 0, 1.7e308});
    const Statistics s = statistics(*t, 8);
    EXPECT_EQ(s.histogram[0], 1);
    EXPECT_EQ(s.histogram[16], 1);
    EXPECT_EQ(s.histogram[31], 1);
}

TEST_F(StatisticsOf, StridedTensorsAreReadInTheOrderOfTheirDimensions) {
    const std::vector<float> values = some_floats(6 * 4);
    Tensor* whole = g_.graph.input(Type::F32, {6, 4, 1, 1}, "whole");
    Tensor* turned = ops::transpose(g_.graph, whole); // [4, 6]
    Tensor* part = ops::view_2d(g_.graph, whole, 2, 3, whole->nb[1], 8);
    const std::vector<Tensor*> wanted{turned, part};
    g_.place(*device_, wanted);
    set_floats(*whole, values);
    std::vector<double> columns, middle;
    for (size_t c = 0; c < 6; ++c) {
        for (size_t r = 0; r < 4; ++r) {
            columns.push_back(values[r * 6 + c]);
        }
    }
    for (size_t r = 0; r < 3; ++r) {
        middle.insert(middle.end(), {values[r * 6 + 2], values[r * 6 + 3]});
    }
    const Statistics of_turned = statistics(*turned, 8);
    expect_statistics_of(columns, of_turned);
    EXPECT_EQ(of_turned.first, std::vector<double>(columns.begin(), columns.begin() + 8));
    expect_statistics_of(middle, statistics(*part, 8));
}

class StatisticsOfDeviceMemory : public OnVulkan<::testing::Test> {};

TEST_F(StatisticsOfDeviceMemory, AreThoseOfTheSameFloatsOnTheHost) {
    SmallGraph g;
    const std::vector<float> values = some_floats(100);
    Tensor* t = g.graph.input(Type::F32, {10, 10, 1, 1}, "t");
    g.place(device(), t);
    set_floats(*t, values);
    expect_statistics_of({values.begin(), values.end()}, statistics(*t, 8));
}

} // namespace
} // namespace schedscope::test
