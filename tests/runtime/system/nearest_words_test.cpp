// What is asked back when a word is typed that there is not.
#include "runtime/system/nearest_words.h"

#include <gtest/gtest.h>

#include <vector>

namespace schedscope {
namespace {

const std::vector<std::string_view> words{"SOFT_MAX", "SOFTPLUS", "SQRT", "norm-1", "norm-2", "norm", "f32"};

TEST(NearestWords, AreThoseWithFewOtherLetters) {
    EXPECT_EQ(nearest_words(words, "nrom-1"), "norm-1 or norm-2");
    EXPECT_EQ(nearest_words(words, "f31"), "f32");
    EXPECT_EQ(nearest_words(words, "nonsense"), "");
    EXPECT_EQ(did_you_mean(words, "sqtr"), "; did you mean SQRT?");
    EXPECT_EQ(did_you_mean(words, "nonsense"), "");
}

TEST(NearestWords, ThatBeginWithWhatWasTypedAreNearest) {
    EXPECT_EQ(nearest_words(words, "SOFT"), "SOFT_MAX or SOFTPLUS") << "not SQRT";
    EXPECT_EQ(nearest_words(words, "soft-m"), "SOFT_MAX");
}

TEST(NearestWords, OfAShortOneMostLettersStay) {
    const std::vector<std::string_view> short_ones{"dot", "fa", "ot", "for"};
    EXPECT_EQ(nearest_words(short_ones, "foo"), "for");
    EXPECT_EQ(nearest_words(short_ones, "dpt"), "dot");
    EXPECT_EQ(nearest_words(short_ones, "af"), "fa");
    EXPECT_EQ(nearest_words(short_ones, "xy"), "");
}

TEST(NearestWords, OfASingleLetterThereAreNone) { EXPECT_EQ(nearest_words(words, "f"), ""); }

} // namespace
} // namespace schedscope
