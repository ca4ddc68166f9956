#include "inspector/tui/panes/list.h"

#include <gtest/gtest.h>

namespace schedscope::tui {
namespace {

List a_list(int rows, int height) {
    List list;
    list.resize(rows, height);
    return list;
}

TEST(List, TheSelectedRowStaysOnTheScreen) {
    List list = a_list(100, 10);
    list.select(50);
    EXPECT_EQ(list.top(), 41);
    list.move(-5);
    EXPECT_EQ(list.top(), 41);
    list.move(-6);
    EXPECT_EQ(list.selected(), 39);
    EXPECT_EQ(list.top(), 39);
}

TEST(List, MovesStopAtBothEnds) {
    List list = a_list(5, 10);
    EXPECT_FALSE(list.move(-1));
    EXPECT_TRUE(list.move(100));
    EXPECT_EQ(list.selected(), 4);
    EXPECT_FALSE(list.move(1));
    EXPECT_EQ(list.top(), 0);
}

TEST(List, PagesKeepOneLineInSight) {
    List list = a_list(100, 10);
    list.page(1);
    EXPECT_EQ(list.selected(), 9);
    EXPECT_EQ(list.top(), 9) << "the first press moves the screen";
    list.half_page(1);
    EXPECT_EQ(list.selected(), 14);
    EXPECT_EQ(list.top(), 14);
    list.half_page(-1);
    list.page(-1);
    EXPECT_EQ(list.selected(), 0);
    EXPECT_EQ(list.top(), 0);
}

TEST(List, APageKeepsTheLineOfTheScreenButAtAnEnd) {
    List list = a_list(24, 10);
    list.select(4);
    list.page(1);
    EXPECT_EQ(list.top(), 9);
    EXPECT_EQ(list.selected(), 13);
    list.page(1);
    EXPECT_EQ(list.top(), 14);
    EXPECT_EQ(list.selected(), 22);
    EXPECT_TRUE(list.page(1));
    EXPECT_EQ(list.selected(), 23);
    EXPECT_FALSE(list.page(1));
    list.page(-3);
    EXPECT_EQ(list.top(), 0);
    EXPECT_EQ(list.selected(), 0);
}

TEST(List, GrowingTheScreenLeavesNoRoomBelow) {
    List list = a_list(20, 5);
    list.select(19);
    EXPECT_EQ(list.top(), 15);
    list.resize(20, 12);
    EXPECT_EQ(list.top(), 8);
    list.resize(3, 12);
    EXPECT_EQ(list.selected(), 2);
    EXPECT_EQ(list.top(), 0);
}

TEST(List, TheWheelTakesTheSelectionAlongOnlyAtTheEdge) {
    List list = a_list(100, 10);
    list.select(5);
    EXPECT_TRUE(list.scroll(3));
    EXPECT_EQ(list.selected(), 5);
    list.scroll(3);
    EXPECT_EQ(list.top(), 6);
    EXPECT_EQ(list.selected(), 6);
    list.scroll(-100);
    EXPECT_EQ(list.top(), 0);
    EXPECT_EQ(list.selected(), 6);
    EXPECT_FALSE(list.scroll(-1));
}

TEST(List, AnEmptyListHasNoRows) {
    List list = a_list(0, 10);
    EXPECT_TRUE(list.empty());
    EXPECT_FALSE(list.move(1));
    EXPECT_EQ(list.row_at(0), -1);
    EXPECT_EQ(list.selected(), 0);
}

TEST(List, LinesOfTheScreenAreRows) {
    List list = a_list(12, 10);
    list.select(11);
    EXPECT_EQ(list.row_at(0), 2);
    EXPECT_EQ(list.row_at(9), 11);
    EXPECT_EQ(list.row_at(10), -1);
    EXPECT_EQ(list.row_at(-1), -1);
}

} // namespace
} // namespace schedscope::tui
