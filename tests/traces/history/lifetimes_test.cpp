#include "traces/history/lifetimes.h"

#include <gmock/gmock.h>

namespace schedscope {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

/// tensor, in place of, first and last use, size
record::Placement placed(TensorId tensor, TensorId in_place_of, int32_t first, int32_t last, int64_t size) {
    return {tensor, in_place_of, 0, 0, first, last, 0, size};
}

struct Sketch {
    std::vector<record::Placement> all;
    Lifetimes::Peak peak() const {
        std::vector<const record::Placement*> pointers;
        for (const record::Placement& p : all) {
            pointers.push_back(&p);
        }
        return Lifetimes(all).peak_of(pointers);
    }
    std::vector<TensorId> holders() const {
        std::vector<TensorId> ids;
        for (const record::Placement* p : peak().holders) {
            ids.push_back(p->tensor);
        }
        return ids;
    }
};

TEST(Lifetimes, ThePeakIsWhereMostIsNeededAtOnce) {
    const Sketch s{{placed(0, no_tensor, 0, 2, 10), placed(1, no_tensor, 2, 4, 30), placed(2, no_tensor, 3, 5, 5),
                    placed(3, no_tensor, 6, 6, 34)}};
    EXPECT_EQ(s.peak().bytes, 40); // 0 and 1 at 2
    EXPECT_EQ(s.peak().at, 2);
    EXPECT_THAT(s.holders(), ElementsAre(1, 0));
}

/// People know tensors, not places.
TEST(Lifetimes, ThePlaceOfThePeakHasTheNameOfWhatIsMadeThere) {
    EXPECT_EQ(place_in_words(2, "kq-0"), "place 2 (kq-0)");
    EXPECT_EQ(place_in_words(2, ""), "place 2");
    const Sketch one{{placed(0, no_tensor, 0, 2, 10), placed(1, no_tensor, 2, 4, 30)}};
    ASSERT_NE(one.peak().taken, nullptr);
    EXPECT_EQ(one.peak().taken->tensor, 1);
    const Sketch inputs{{placed(0, no_tensor, 0, 2, 10), placed(1, no_tensor, 0, 4, 30)}};
    EXPECT_EQ(inputs.peak().taken, nullptr) << "both have theirs from the beginning";
}

TEST(Lifetimes, WhatWorksInPlaceIsCountedOnce) {
    const Sketch s{{placed(0, no_tensor, 0, 3, 10), placed(1, 0, 3, 5, 10), placed(2, no_tensor, 4, 4, 1)}};
    EXPECT_EQ(s.peak().bytes, 11);
    EXPECT_THAT(s.holders(), ElementsAre(1, 2));
    EXPECT_EQ(Lifetimes(s.all).end_of(s.all[0]), 3);
}

TEST(Lifetimes, AnEmptyBufferHasNoPeak) {
    EXPECT_EQ(Sketch{}.peak().bytes, 0);
    EXPECT_THAT(Sketch{}.holders(), IsEmpty());
}

} // namespace
} // namespace schedscope
