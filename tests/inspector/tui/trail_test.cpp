#include "inspector/tui/state/trail.h"

#include <gtest/gtest.h>

namespace schedscope::tui {
namespace {

using enum ViewId;

TEST(Trail, LeadsBackAndForward) {
    Trail trail;
    EXPECT_FALSE(trail.can_go_back());
    trail.leave({1, 10, nodes});  // to 2
    trail.leave({2, 20, splits}); // to 3
    EXPECT_EQ(trail.back({3, 30, copies}), (TrailPlace{2, 20, splits}));
    EXPECT_EQ(trail.back({2, 20, splits}), (TrailPlace{1, 10, nodes}));
    EXPECT_FALSE(trail.can_go_back());
    EXPECT_EQ(trail.forward({1, 10, nodes}), (TrailPlace{2, 20, splits}));
    EXPECT_EQ(trail.forward({2, 20, splits}), (TrailPlace{3, 30, copies}));
    EXPECT_FALSE(trail.can_go_forward());
}

TEST(Trail, AJumpFromTheMiddleForgetsWhatLayAhead) {
    Trail trail;
    trail.leave({1, 10, nodes});
    trail.back({2, 20, nodes});
    EXPECT_TRUE(trail.can_go_forward());
    trail.leave({1, 10, nodes});
    EXPECT_FALSE(trail.can_go_forward());
}

TEST(Trail, StaysFinite) {
    Trail trail;
    for (Step step = 0; step < 10'000; ++step)
        trail.leave({step, 0, nodes});
    int n = 0;
    for (; trail.can_go_back(); ++n)
        trail.back({0, 0, nodes});
    EXPECT_EQ(n, 256);
}

} // namespace
} // namespace schedscope::tui
