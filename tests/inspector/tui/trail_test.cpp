#include "inspector/tui/trail.h"

#include <gtest/gtest.h>

namespace schedscope::tui {
namespace {

TEST(Trail, LeadsBackAndForward) {
    Trail trail;
    EXPECT_FALSE(trail.can_go_back());
    trail.leave({1, 10, 1}); // to 2
    trail.leave({2, 20, 2}); // to 3
    EXPECT_EQ(trail.back({3, 30, 3}), (Place{2, 20, 2}));
    EXPECT_EQ(trail.back({2, 20, 2}), (Place{1, 10, 1}));
    EXPECT_FALSE(trail.can_go_back());
    EXPECT_EQ(trail.forward({1, 10, 1}), (Place{2, 20, 2}));
    EXPECT_EQ(trail.forward({2, 20, 2}), (Place{3, 30, 3}));
    EXPECT_FALSE(trail.can_go_forward());
}

TEST(Trail, AJumpFromTheMiddleForgetsWhatLayAhead) {
    Trail trail;
    trail.leave({1, 10, 1});
    trail.back({2, 20, 1});
    EXPECT_TRUE(trail.can_go_forward());
    trail.leave({1, 10, 1});
    EXPECT_FALSE(trail.can_go_forward());
}

TEST(Trail, StaysFinite) {
    Trail trail;
    for (Step step = 0; step < 10'000; ++step)
        trail.leave({step, 0, 1});
    int n = 0;
    for (; trail.can_go_back(); ++n)
        trail.back({0, 0, 1});
    EXPECT_EQ(n, 256);
}

} // namespace
} // namespace schedscope::tui
