// Numbers as people read them.
#include "traces/history/words/words.h"

#include <gtest/gtest.h>

namespace schedscope {
namespace {

TEST(Words, SizesAndTimesAreWrittenAsPeopleReadThem) {
    EXPECT_EQ(words::bytes(-1), "-") << "not known";
    EXPECT_EQ(words::bytes(0), "0 B");
    EXPECT_EQ(words::bytes(1023), "1023 B");
    EXPECT_EQ(words::bytes(4096), "4.0 KiB");
    EXPECT_EQ(words::bytes(135168), "132 KiB");
    EXPECT_EQ(words::bytes(1048575), "1.0 MiB");
    EXPECT_EQ(words::bytes(int64_t{24} << 30), "24.0 GiB");
    EXPECT_EQ(words::duration(810), "810 ns");
    EXPECT_EQ(words::duration(12'400), "12.4 µs");
    EXPECT_EQ(words::duration(1'240'000), "1.24 ms");
    EXPECT_EQ(words::duration(3'050'000'000), "3.05 s");
    EXPECT_EQ(words::count(48310), "48,310");
    EXPECT_EQ(words::count(-1000), "-1,000");
    EXPECT_EQ(words::counted(1, "copy"), "1 copy");
    EXPECT_EQ(words::counted(2048, "copy"), "2,048 copies");
}

TEST(Words, SizesThatMayBeUnknownSayHowMuchIsKnown) {
    SizeSum all, some, none;
    all.add(4096);
    some.add(4096);
    some.add(std::nullopt);
    none.add(std::nullopt);
    EXPECT_EQ(words::bytes(all), "4.0 KiB");
    EXPECT_EQ(words::bytes(some), "at least 4.0 KiB");
    EXPECT_EQ(words::bytes(none), "?");
    EXPECT_EQ(words::counted_of(1, "copy", all), "1 copy of 4.0 KiB");
    EXPECT_EQ(words::counted_of(2, "copy", some), "2 copies of at least 4.0 KiB");
    EXPECT_EQ(words::counted_of(1, "copy", none), "1 copy of unknown size");
    EXPECT_EQ(words::counted_of(0, "copy", all), "no copies");
}

TEST(Words, ARefusalSaysAsMuchAsIsKnownOfIt) {
    EXPECT_EQ(words::refusal(Refusal::type, "source 1 is not F32"), "type: source 1 is not F32");
    EXPECT_EQ(words::refusal(Refusal::type, ""), "type");
    EXPECT_EQ(words::refusal(Refusal::none, "no spline unit"), "no spline unit");
    EXPECT_EQ(words::refusal(Refusal::none, ""), "");
}

} // namespace
} // namespace schedscope
