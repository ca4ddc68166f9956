#include "runtime/verify/compare.h"

#include "runtime/backend/cpu/cpu_device.h"
#include "runtime/verify/tolerance.h"
#include "tests/support/graphs/small_graph.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace schedscope::test {
namespace {

constexpr float nan = std::numeric_limits<float>::quiet_NaN();
constexpr float inf = std::numeric_limits<float>::infinity();

TensorDistance difference(const std::vector<float>& a, const std::vector<float>& b) {
    const auto device = make_cpu_device();
    SmallGraph g;
    const auto n = static_cast<int64_t>(a.size());
    const std::vector<Tensor*> both{g.graph.input(Type::F32, {n, 1, 1, 1}, "a"), g.graph.input(Type::F32, {n, 1, 1, 1}, "b")};
    g.place(*device, both);
    set_floats(*both[0], a);
    set_floats(*both[1], b);
    return compare(*both[0], *both[1]);
}

TEST(Compare, IsTheSquaredErrorByTheSquaredReference) {
    EXPECT_EQ(difference({1, 2, 3}, {1, 2, 3}).nmse, 0);
    EXPECT_DOUBLE_EQ(difference({1, 2, 4}, {1, 2, 3}).nmse, 1.0 / 14);
    EXPECT_DOUBLE_EQ(difference({0, 0, 0}, {1, 2, 3}).nmse, 1);
}

TEST(Compare, AnErrorWhereTheReferenceIsZeroIsInfinite) {
    EXPECT_TRUE(std::isinf(difference({1e-6F, 0}, {0, 0}).nmse));
    EXPECT_EQ(difference({0, 0}, {0, 0}).nmse, 0);
}

TEST(Compare, NaNAndInfinityAreEqualOnlyToThemselves) {
    EXPECT_EQ(difference({nan, inf, -inf, 2}, {nan, inf, -inf, 2}).nmse, 0);
    EXPECT_EQ(difference({nan, 1}, {0, 1}).why, "NaN differs");
    EXPECT_EQ(difference({0, 1}, {0, nan}).why, "NaN differs");
    EXPECT_EQ(difference({inf, 1}, {-inf, 1}).why, "infinity differs");
    EXPECT_EQ(difference({3e38F, 1}, {inf, 1}).why, "infinity differs");
    EXPECT_TRUE(std::isinf(difference({nan, 1}, {0, 1}).nmse));
    EXPECT_DOUBLE_EQ(difference({nan, 2}, {nan, 1}).nmse, 1);
}

TEST(Compare, NamesTheElementThatIsFarthestOff) {
    const TensorDistance d = difference({1, 2.5F, 3, -2}, {1, 2, 3, 2});
    EXPECT_EQ(d.element, 3);
    EXPECT_EQ(d.max_error, 4);
    EXPECT_EQ(d.a, -2);
    EXPECT_EQ(d.b, 2);
    EXPECT_EQ(difference({2, 3}, {1, 2}).element, 0) << "of several the first";
    EXPECT_EQ(difference({1, nan}, {1, nan}).element, -1);
    EXPECT_EQ(difference({1, 2}, {1, 2}).max_error, 0);
    const TensorDistance bad = difference({5, 1, nan}, {1, 1, 7});
    EXPECT_EQ(bad.element, 2) << "what no error measures weighs more than any error";
    EXPECT_TRUE(std::isnan(bad.a));
    EXPECT_EQ(bad.b, 7);
    EXPECT_TRUE(std::isnan(bad.max_error));
}

TEST(Tolerance, IsOfTheRoundingThatTheTypesBring) {
    Graph g;
    Tensor* x = g.input(Type::F32, {32, 4, 1, 1}, "x");
    for (const bool in_floats : {false, true}) {
        EXPECT_EQ(tolerance(*ops::add(g, x, x), in_floats), 1e-7);
        EXPECT_EQ(tolerance(*ops::mul_mat(g, g.input(Type::F32, {32, 8, 1, 1}, "f32"), x), in_floats), 1e-7);
        for (const Type type : {Type::F16, Type::Q4_0}) {
            EXPECT_EQ(tolerance(*ops::mul_mat(g, g.input(type, {32, 8, 1, 1}, "rounded"), x), in_floats),
                      in_floats ? 1e-7 : 5e-4);
        }
        EXPECT_EQ(tolerance(*ops::cast(g, x, Type::F16), in_floats), 1e-7);
        EXPECT_EQ(tolerance(*ops::cast(g, x, Type::BF16), in_floats), 1e-5);
        EXPECT_EQ(tolerance(*ops::cast(g, x, Type::Q8_0), in_floats), 1e-4);
        EXPECT_EQ(tolerance(*ops::argsort(g, x, true), in_floats), 0);
    }
}

} // namespace
} // namespace schedscope::test
