#include "runtime/planner/memory/arena.h"

#include <gtest/gtest.h>

using namespace schedscope;

namespace {

Arena arena(int64_t alignment = 32, int64_t max_size = -1) {
    Arena a;
    a.reset(alignment, max_size);
    return a;
}

} // namespace

TEST(Arena, SizesAreRoundedUpToTheAlignment) {
    Arena a = arena();
    a.take(1);
    EXPECT_EQ(a.take(1).offset, 32);
    EXPECT_EQ(a.peak(0), 64);
}

TEST(Arena, TheSmallestGapThatFitsIsTaken) {
    Arena a = arena();
    const auto large = a.take(96);
    a.take(32);
    const auto small = a.take(64);
    a.take(32);
    a.give_back(large, 96);
    a.give_back(small, 64);
    EXPECT_EQ(a.take(64).offset, small.offset);
}

TEST(Arena, OfEqualGapsTheLaterIsTaken) {
    Arena a = arena();
    const auto first = a.take(64);
    a.take(32);
    const auto second = a.take(64);
    a.take(32);
    a.give_back(first, 64);
    a.give_back(second, 64);
    EXPECT_EQ(a.take(64).offset, second.offset);
}

TEST(Arena, NeighboursThatAreFreeAreOneGap) {
    Arena a = arena();
    const auto left = a.take(32);
    const auto middle = a.take(32);
    const auto right = a.take(32);
    a.take(32);
    a.give_back(left, 32);
    a.give_back(right, 32);
    a.give_back(middle, 32);
    EXPECT_EQ(a.take(96).offset, 0);
}

TEST(Arena, AFullChunkIsFollowedByAnother) {
    Arena a = arena(32, 128);
    a.take(96);
    const auto place = a.take(64);
    EXPECT_EQ(place.chunk, 1);
    EXPECT_EQ(place.offset, 0);
    EXPECT_EQ(a.n_chunks(), 2U);
}

TEST(Arena, ATensorLargerThanABufferMayBeGetsAChunkOfItsOwn) {
    Arena a = arena(32, 128);
    EXPECT_EQ(a.take(512).chunk, 0);
    EXPECT_EQ(a.peak(0), 512);
    EXPECT_EQ(a.take(32).chunk, 1);
}

TEST(Arena, TheSixteenthChunkIsUnlimited) {
    Arena a = arena(32, 32);
    for (int i = 0; i < 20; ++i) {
        a.take(32);
    }
    EXPECT_EQ(a.n_chunks(), 16U);
    EXPECT_EQ(a.peak(15), 5 * 32);
}

TEST(Arena, AGapInALaterChunkReplacesABetterOneBefore) {
    Arena a = arena(32, 128);
    const auto exact = a.take(32);
    a.take(64);
    a.take(32);
    const auto loose = a.take(64);
    a.take(64);
    a.give_back(exact, 32);
    a.give_back(loose, 64);
    EXPECT_EQ(a.take(32).chunk, 0) << "the only gap of a full chunk is its last one, so neither counts as a gap";
}

TEST(Arena, ResetForgetsEverything) {
    Arena a = arena();
    a.take(64);
    a.reset(32, -1);
    EXPECT_EQ(a.n_chunks(), 0U);
    EXPECT_EQ(a.take(32).offset, 0);
}
