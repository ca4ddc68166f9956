// Numbers as people read them.
#include "traces/history/words/words.h"

#include "traces/history/accounts/as_logged.h"
#include "traces/history/words/misfit_words.h"
#include "traces/replay/plan_change.h"

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
    EXPECT_EQ(words::nodes_from_to(3, 5), "nodes 3 to 5");
    EXPECT_EQ(words::nodes_from_to(3, 3), "node 3");
}

TEST(Words, OfFactsTheBuildsAreWrittenOut) {
    EXPECT_EQ(words::fact({"build", "b8180.."}), "b8180 and later");
    EXPECT_EQ(words::fact({"build", "..b3909"}), "up to b3909");
    EXPECT_EQ(words::fact({"build", "my own"}), "my own");
    EXPECT_EQ(words::fact({"program", "b8180.."}), "b8180..");
}

TEST(Words, WhatDoesNotFitComesOutOfTheFactsAsItWentIn) {
    const MemoryMisfit written{"little", "5.2 GiB of 3.9 GiB (weights 5.0 GiB)", false, "; -ngl 12 is the most"},
        paged{"CPU", "9.0 GiB of 8.0 GiB (weights 9.0 GiB)", true, ""};
    SessionInfo session;
    session.facts = {{"memory of big", "1.0 GiB of 3.9 GiB (weights 1.0 GiB): fits"},
                     {"memory of little", written.fact()},
                     {"memory of CPU", paged.fact()}};
    const std::vector<MemoryMisfit> found = memory_misfits(session);
    ASSERT_EQ(found.size(), 2U);
    EXPECT_EQ(found[0].text(), written.text());
    EXPECT_EQ(found[0].brief(), "little does not fit: 5.2 GiB of 3.9 GiB");
    EXPECT_EQ(found[1].text(), paged.text());
    EXPECT_EQ(found[1].brief(), "CPU does not fit at once: 9.0 GiB of 8.0 GiB");
    EXPECT_EQ(session.facts[1].second, "5.2 GiB of 3.9 GiB (weights 5.0 GiB): does not fit; -ngl 12 is the most");
}

TEST(Words, WhatIfSaysOfMemoryWhatRecordDoes) {
    const int64_t gib = int64_t{1} << 30U;
    MemoryFit fit{"CPU", 9 * gib, 7 * gib, 8 * gib, false, false};
    EXPECT_EQ(fit.text(fit.now), "fits: 7.0 GiB of 8.0 GiB");
    EXPECT_EQ(fit.text(fit.recorded), "does not fit: 1.0 GiB too much (9.0 GiB of 8.0 GiB)");
    EXPECT_EQ(fit.misfit(), "");
    fit.paged = true;
    EXPECT_EQ(fit.text(fit.recorded, true), "does not fit at once: about 1.0 GiB too much (about 9.0 GiB of 8.0 GiB)");
    std::swap(fit.now, fit.recorded);
    EXPECT_EQ(fit.misfit(), "does not fit at once into CPU: 1.0 GiB too much");
    fit.memory = 0;
    EXPECT_EQ(fit.misfit(), "") << "not known";
    EXPECT_EQ(fit.text(fit.now), "9.0 GiB of unknown");
}

TEST(Words, MemoryThatFitsIsSaidInFewWords) {
    const int64_t gib = int64_t{1} << 30U;
    const MemoryFit fit{"a", 9 * gib, 7 * gib, 8 * gib, false, false};
    EXPECT_EQ(fit.brief(fit.now), "fits: 7.0 of 8.0 GiB");
    EXPECT_EQ(fit.brief(512 << 20U), "fits: 512 MiB of 8.0 GiB");
    EXPECT_EQ(fit.brief(fit.recorded, true), "about 1.0 GiB too much");
    EXPECT_EQ((MemoryFit{"a", gib, gib, 0, false, false}.brief(gib)), "") << "not known";
}

/// The question says what the refusal would.
TEST(Words, ANoAboutMemoryIsNotSaidTwice) {
    EXPECT_EQ(words::asked(Question::buffer_type, "CPU", false, "memory: cannot use this kind of memory"),
              "can use CPU memory? no");
    EXPECT_EQ(words::asked(Question::op, "", false, "memory: reads a device's memory"),
              "runs this operator? no: memory: reads a device's memory");
}

TEST(Words, AReservedGraphIsNamedAsAnEvaluation) {
    EXPECT_EQ(words::reserved_for(512), "prefill of 512 tokens");
    EXPECT_EQ(words::reserved_for(1), "decode of 1 token");
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

TEST(Words, SizesThatWereRoundedHaveTheDigitsThatAreKnown) {
    for (const char* logged : {"0.22 MiB", "0.8877 MiB", "164.00 MiB", "3 MiB"}) {
        const auto size = accounts::read_logged_size(logged);
        ASSERT_TRUE(size) << logged;
        EXPECT_EQ(words::bytes(SizeSum{size->bytes, true, size->rounding}), std::string("about ") + logged);
    }
    SizeSum sum;
    sum.add(930821, 53);
    sum.add(269379, 53);
    EXPECT_EQ(words::bytes(sum), "about 1.145 MiB");
    sum.add(4096);
    EXPECT_EQ(sum.rounding, 106);
    EXPECT_EQ(words::bytes(SizeSum{4096, false, 53}), "at least 4.0 KiB");
    EXPECT_EQ(accounts::read_logged_size(" = 1.5 GiB (full)")->text, "1.5 GiB");
    for (const char* none : {"", "MiB", "12", "12 MB", "1e400 MiB"}) {
        EXPECT_FALSE(accounts::read_logged_size(none)) << none;
    }
}

TEST(Words, ARefusalSaysAsMuchAsIsKnownOfIt) {
    EXPECT_EQ(words::refusal(Refusal::type, "source 1 is not F32"), "type: source 1 is not F32");
    EXPECT_EQ(words::refusal(Refusal::type, ""), "type");
    EXPECT_EQ(words::refusal(Refusal::none, "no spline unit"), "no spline unit");
    EXPECT_EQ(words::refusal(Refusal::none, ""), "");
}

} // namespace
} // namespace schedscope
