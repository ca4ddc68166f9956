#include "viz/pictures/offset_axis.h"

#include <gmock/gmock.h>

namespace schedscope {
namespace {

using ::testing::IsEmpty;
using ::testing::SizeIs;

TEST(OffsetAxis, IsEvenWhereEverythingIsUsed) {
    const OffsetAxis axis({{0, 40}, {30, 100}}, 100, 300);
    EXPECT_THAT(axis.folds(), IsEmpty());
    EXPECT_DOUBLE_EQ(axis.y(0), 0);
    EXPECT_DOUBLE_EQ(axis.y(50), 150);
    EXPECT_DOUBLE_EQ(axis.y(100), 300);
    const auto ticks = axis.ticks(10);
    ASSERT_THAT(ticks, SizeIs(14)); // 0, 8 … 96, and the end
    EXPECT_EQ(ticks[1].label, "8 B");
    EXPECT_EQ(ticks.back().label, "100 B");
}

TEST(OffsetAxis, KeepsShortGaps) { EXPECT_THAT(OffsetAxis({{0, 50}, {52, 100}}, 100, 300).folds(), IsEmpty()); }

TEST(OffsetAxis, FoldsWhatIsLongAndEmpty) {
    const OffsetAxis axis({{1000, 1100}, {900000, 900100}}, 1'000'000, 300);
    ASSERT_THAT(axis.folds(), SizeIs(3)); // before, between, behind
    EXPECT_EQ(axis.folds()[1].first, 1100);
    EXPECT_EQ(axis.folds()[1].end, 900000);
    EXPECT_GT(axis.y(1100) - axis.y(1000), 100) << "what is used has most of the height";
    EXPECT_NEAR(axis.y(900100) - axis.y(900000), axis.y(1100) - axis.y(1000), 1e-9) << "in one scale";
    EXPECT_NEAR(axis.y(1'000'000), 300, 1e-9);
    double before = -1;
    for (int64_t offset = 0; offset <= 1'000'000; offset += 500) {
        EXPECT_GT(axis.y(offset), before) << offset;
        before = axis.y(offset);
    }
}

TEST(OffsetAxis, ManyFoldsLeaveRoomForWhatIsUsed) {
    std::vector<std::pair<int64_t, int64_t>> used;
    double in_use = 0;
    for (int64_t i = 0; i < 500; ++i) {
        used.emplace_back(i * 100'000, i * 100'000 + 64);
    }
    const OffsetAxis axis(used, 50'000'000, 300);
    for (const auto& [first, end] : used) {
        in_use += axis.y(end) - axis.y(first);
    }
    EXPECT_GE(in_use, 150);
    const auto ticks = axis.ticks(12);
    for (size_t i = 1; i < ticks.size(); ++i) {
        EXPECT_GE(ticks[i].y - ticks[i - 1].y, 12);
    }
}

TEST(OffsetAxis, ItsNumbersAreRoundAndExact) {
    const OffsetAxis axis({{0, 3000}}, 1'000'000, 300); // folded: all behind
    const auto ticks = axis.ticks(12);
    ASSERT_GE(ticks.size(), 4U);
    EXPECT_EQ(ticks[0].label, "0 B");
    EXPECT_EQ(ticks[1].label, "256 B");
    EXPECT_EQ(ticks[4].label, "1.0 KiB") << "as sizes are said everywhere";
    EXPECT_EQ(ticks[5].label, "1.25 KiB");
    EXPECT_EQ(ticks[5].offset, 1280);
    EXPECT_EQ(ticks.back().offset, 1'000'000);
    for (const OffsetAxis::Tick& tick : ticks) {
        EXPECT_DOUBLE_EQ(tick.y, axis.y(tick.offset));
    }
}

TEST(OffsetAxis, ItsNumbersOfLargeBuffersAreShort) {
    constexpr int64_t MiB = int64_t{1} << 20;
    const OffsetAxis axis({{0, 16'779'264}, {600 * MiB, 664 * MiB}}, 664 * MiB, 49);
    for (const OffsetAxis::Tick& tick : axis.ticks(7)) {
        EXPECT_LE(tick.label.size(), 9U) << tick.label;
        EXPECT_TRUE(tick.label.ends_with("B")) << tick.label;
    }
}

TEST(OffsetAxis, OfAnEmptyBufferIsEven) { EXPECT_DOUBLE_EQ(OffsetAxis({}, 100, 300).y(50), 150); }

} // namespace
} // namespace schedscope
