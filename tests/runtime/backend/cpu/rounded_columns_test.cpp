// Columns that are rounded for rows as they lie, and for rows that were laid out.
#include "runtime/backend/cpu/kernels/rounded_columns.h"

#include "tests/support/graphs/small_graph.h"

#include <gtest/gtest.h>

namespace schedscope::test {
namespace {

using cpu::RoundedColumns;
using cpu::Rounding;

constexpr int64_t k = 96, n = 5, used = k / Int8Columns::group; // k fills no unit

/// As the instruction set rounds one column by itself.
struct Alone {
    Alone(const VectorOps& v, const float* x) : codes(k), scales(used), sums(used), totals(used) {
        v.quantise(x, k, false, codes.data(), scales.data(), sums.data(), totals.data());
    }
    std::vector<int8_t> codes;
    std::vector<float> scales, sums;
    std::vector<int32_t> totals;
};

class RoundedColumnsFor : public ::testing::TestWithParam<Rounding> {};

TEST_P(RoundedColumnsFor, HaveSumsAndBeginsOfWhatIsScaledTogether) {
    const VectorOps& v = *usable_vector_ops().front();
    const Rounding& rounding = GetParam();
    const int64_t together = rounding.scaled == 0 ? 1 : rounding.scaled / Int8Columns::group;
    const auto x = some_floats(static_cast<size_t>(k * n));
    std::vector<float> room(static_cast<size_t>(RoundedColumns::room_for(rounding, k, n)), 99.0F);
    const RoundedColumns rounded(rounding, room.data(), k, n);
    rounded.round(v, x.data(), k, 0, n);
    rounded.round(v, x.data(), k, 2, n); // again, and by parts
    rounded.round(v, x.data(), k, 0, 2);

    std::vector<float> other_room(room.size(), 99.0F);
    const RoundedColumns copied(rounding, other_room.data(), k, n);
    for (int64_t j = 0; j < n; ++j) {
        copied.copy(rounded.columns().from(j), n - 1 - j);
    }
    for (int64_t j = 0; j < n; ++j) {
        const Alone alone(v, x.data() + j * k);
        for (const Int8Columns& found : {rounded.columns().int8.from(j), copied.columns().int8.from(n - 1 - j)}) {
            EXPECT_EQ(std::vector<int8_t>(found.codes, found.codes + k), alone.codes);
            EXPECT_EQ(std::vector<float>(found.scales, found.scales + used), alone.scales);
            ASSERT_EQ(found.begins != nullptr, rounding.scaled > 0);
            for (int64_t g = 0; g < used; g += together) {
                const auto at = static_cast<size_t>(g);
                const bool of_two = together == 2;
                EXPECT_EQ(found.sums[g], of_two ? alone.sums[at] + alone.sums[at + 1] : alone.sums[at]);
                if (found.begins != nullptr) {
                    const int32_t total = alone.totals[at] + (of_two ? alone.totals[at + 1] : 0);
                    EXPECT_EQ(found.begins[g / together], -rounding.taken_off * total);
                }
            }
        }
    }
}

INSTANTIATE_TEST_SUITE_P(All, RoundedColumnsFor,
                         ::testing::Values(Rounding{}, Rounding{.taken_off = 8, .scaled = 32}, Rounding{.scaled = 32},
                                           Rounding{.taken_off = 32, .scaled = 16}),
                         [](const auto& info) {
                             return "scaled_" + std::to_string(info.param.scaled) + "_less_" +
                                    std::to_string(info.param.taken_off);
                         });

} // namespace
} // namespace schedscope::test
