#include "tests/runtime/context/last_position.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace schedscope;
using test::last_position;
using ::testing::ElementsAre;

namespace {

std::vector<int32_t> found(const KvCells& cells, int32_t n) {
    std::vector<int32_t> slots;
    return cells.find(n, slots) ? slots : std::vector<int32_t>{};
}

void fill(KvCells& cells, int32_t n, int32_t sequence) {
    int32_t position = last_position(cells, sequence);
    for (const int32_t cell : found(cells, n)) {
        cells.take(cell, ++position, only_sequence(sequence));
    }
}

TEST(KvCells, are_taken_one_behind_the_other) {
    KvCells cells(8);
    EXPECT_THAT(found(cells, 3), ElementsAre(0, 1, 2));
    fill(cells, 3, 0);
    EXPECT_THAT(found(cells, 2), ElementsAre(3, 4));
    EXPECT_EQ(cells.used(), 3);
    EXPECT_EQ(cells.used_end(), 3);
    EXPECT_EQ(last_position(cells, 0), 2);
    EXPECT_EQ(last_position(cells, 1), -1);
}

TEST(KvCells, that_are_freed_in_between_are_used_again) {
    KvCells cells(6);
    fill(cells, 2, 0);
    fill(cells, 2, 1);
    fill(cells, 2, 0);
    EXPECT_TRUE(found(cells, 1).empty());
    cells.remove(1, 0, -1);
    EXPECT_THAT(found(cells, 2), ElementsAre(2, 3));
    EXPECT_EQ(cells.used_end(), 6);
}

TEST(KvCells, shared_by_sequences_are_freed_by_the_last_one) {
    KvCells cells(4);
    fill(cells, 3, 0);
    cells.copy(0, 5, 0, 2);
    EXPECT_EQ(cells.sequences(1), only_sequence(0) | only_sequence(5));
    EXPECT_EQ(cells.sequences(2), only_sequence(0));
    cells.remove(0, 0, -1);
    EXPECT_EQ(cells.used(), 2);
    EXPECT_EQ(last_position(cells, 5), 1);
    cells.remove(-1, 1, 2);
    EXPECT_EQ(cells.used(), 1);
}

TEST(KvCells, that_shift_report_by_how_much_once) {
    KvCells cells(5);
    fill(cells, 5, 0);
    cells.remove(0, 1, 3);
    cells.shift(0, 3, -1, -2);
    EXPECT_EQ(cells.position(3), 1);
    EXPECT_EQ(cells.position(4), 2);
    const auto shifts = cells.take_shifts();
    ASSERT_TRUE(shifts.has_value());
    EXPECT_THAT(*shifts, ElementsAre(0, 0, 0, -2, -2));
    EXPECT_FALSE(cells.take_shifts().has_value());
}

TEST(KvCells, shifted_below_zero_are_free) {
    KvCells cells(3);
    fill(cells, 3, 0);
    cells.shift(0, 0, -1, -1);
    EXPECT_EQ(cells.used(), 2);
    EXPECT_EQ(cells.position(0), -1);
    EXPECT_EQ(cells.position(1), 0);
}

} // namespace
