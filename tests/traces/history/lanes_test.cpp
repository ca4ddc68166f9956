// What ran at the same time, laid side by side.
#include "traces/history/lanes.h"

#include <gmock/gmock.h>

#include <string>

namespace schedscope {
namespace {

/// Each lane as text: "a(" a begins, ")" the last one ends.
std::vector<std::string> laid(Lanes& lanes, std::vector<TimeSlice> slices) {
    for (size_t i = 0; i < slices.size(); ++i) {
        slices[i].index = i;
    }
    std::vector<Lanes::Edge> edges;
    lanes.lay(slices, edges);
    std::vector<std::string> text(lanes.n_lanes());
    for (const Lanes::Edge& edge : edges) {
        text[edge.lane] += edge.begins ? std::string(1, static_cast<char>('a' + edge.index)) + "(" : ")";
    }
    return text;
}
std::vector<std::string> laid(const std::vector<TimeSlice>& slices) {
    Lanes lanes;
    return laid(lanes, slices);
}

using ::testing::ElementsAre;

TEST(Lanes, WhatLiesWithinNests) {
    EXPECT_THAT(laid({{0, 10, 0}, {2, 4, 1}, {4, 9, 1}, {12, 13, 0}}), ElementsAre("a(b()c())d()"));
}

TEST(Lanes, WhatOverlapsGetsALaneOfItsOwn) {
    EXPECT_THAT(laid({{0, 10, 0}, {5, 15, 0}, {6, 9, 1}, {11, 14, 1}}), ElementsAre("a(c())d()", "b()"));
}

TEST(Lanes, OfTwoThatBeginTogetherTheLongerHoldsTheOther) {
    EXPECT_THAT(laid({{0, 3, 1}, {0, 5, 0}}), ElementsAre("b(a())"));
    EXPECT_THAT(laid({{0, 5, 1}, {0, 5, 0}}), ElementsAre("b(a())")) << "of equals, what can hold";
}

TEST(Lanes, WhatTakesNoTimeBelongsToWhatItIsPartOf) {
    EXPECT_THAT(laid({{0, 5, 0}, {5, 5, 1}, {5, 8, 0}}), ElementsAre("a()c(b())"));
    EXPECT_THAT(laid({{0, 5, 0}, {5, 5, 1}}), ElementsAre("a(b())"));
    EXPECT_THAT(laid({{0, 5, 0}, {5, 5, 0}}), ElementsAre("a()b()"));
}

TEST(Lanes, ALaneGoesOnOnlyBehindWhatItShowedBefore) {
    Lanes lanes;
    EXPECT_THAT(laid(lanes, {{0, 10, 0}}), ElementsAre("a()"));
    EXPECT_THAT(laid(lanes, {{8, 12, 0}, {14, 15, 0}}), ElementsAre("b()", "a()")) << "it still runs when the next begins";
    EXPECT_THAT(laid(lanes, {{20, 21, 0}}), ElementsAre("a()", ""));
}

} // namespace
} // namespace schedscope
