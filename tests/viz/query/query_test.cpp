#include "viz/query/known_words.h"

#include "runtime/error.h"

#include <gmock/gmock.h>

namespace schedscope::query {
namespace {

Facts a_product() {
    Facts facts;
    facts.set(Field::name, "blk.3.ffn_gate");
    facts.set(Field::op, "MUL_MAT");
    facts.set(Field::backend, "Vulkan0");
    facts.set(Field::cause, "1.wgt0");
    facts.set(Field::pass, "2a");
    facts.set(Field::bytes, 2.0 * 1024 * 1024);
    facts.set(Field::time, 1500.0);
    facts.set(Field::split, 4);
    facts.set(Field::by, "blk.3.ffn_norm.weight");
    return facts;
}

bool fits(std::string_view query) { return Query::parse(query).matches(a_product()); }

std::string complaint(std::string_view query) {
    try {
        (void)Query::parse(query);
    } catch (const Error& error) {
        EXPECT_EQ(error.kind(), ErrorKind::usage);
        return error.what();
    }
    return "none";
}

TEST(Query, APlainWordIsPartOfTheName) {
    EXPECT_TRUE(fits("ffn_gate"));
    EXPECT_TRUE(fits("FFN"));
    EXPECT_FALSE(fits("attn"));
}

TEST(Query, AGateAndAFunctionAreAlsoTheOperatorThatTheyAreOf) {
    Facts facts;
    facts.set(Field::op, "SWIGLU");
    for (const char* query : {"op=GLU", "op=glu|ADD", "op=SWIGLU", "op!=UNARY"}) {
        EXPECT_TRUE(Query::parse(query).matches(facts)) << query;
    }
    EXPECT_FALSE(Query::parse("op!=GLU").matches(facts));
    facts.set(Field::op, "SILU");
    EXPECT_TRUE(Query::parse("op=UNARY").matches(facts));
    EXPECT_FALSE(Query::parse("op=GLU").matches(facts));
}

TEST(Query, NothingMatchesEverything) {
    EXPECT_TRUE(Query::parse("").empty());
    EXPECT_TRUE(Query::parse("   ").empty());
    EXPECT_TRUE(fits(""));
}

TEST(Query, AllTermsMustHold) {
    EXPECT_TRUE(fits("op=MUL_MAT backend=vulkan0 cause~1. name~blk.3 pass=2 bytes>1M"));
    EXPECT_FALSE(fits("op=MUL_MAT backend=CPU"));
    EXPECT_FALSE(fits("op=MUL_MAT bytes>2M"));
}

TEST(Query, TextsAreEqualOrContained) {
    EXPECT_TRUE(fits("op=mul_mat"));
    EXPECT_FALSE(fits("op=MUL"));
    EXPECT_TRUE(fits("op~MUL"));
    EXPECT_TRUE(fits("op!=ADD"));
    EXPECT_FALSE(fits("op!=MUL_MAT"));
    EXPECT_TRUE(fits("cause!~4."));
    EXPECT_FALSE(fits("cause!~wgt"));
}

TEST(Query, ABarSeparatesAlternatives) {
    EXPECT_TRUE(fits("op=ADD|MUL_MAT"));
    EXPECT_FALSE(fits("op=ADD|SUB"));
    EXPECT_FALSE(fits("op!=ADD|MUL_MAT"));
    EXPECT_TRUE(fits("attn|ffn"));
}

TEST(Query, NumbersAreCompared) {
    EXPECT_TRUE(fits("split=4"));
    EXPECT_TRUE(fits("split!=5"));
    EXPECT_TRUE(fits("split<5 split>3 split<=4 split>=4"));
    EXPECT_FALSE(fits("split<4"));
    EXPECT_FALSE(fits("split>4"));
}

TEST(Query, BytesAndTimesHaveUnits) {
    EXPECT_TRUE(fits("bytes=2M"));
    EXPECT_TRUE(fits("bytes=2MiB bytes=2048K bytes=2097152"));
    EXPECT_TRUE(fits("bytes<1G"));
    EXPECT_TRUE(fits("bytes>1MiB bytes<=2GiB bytes>3KiB bytes=2097152B bytes=2MB"));
    EXPECT_TRUE(fits("time=1.5us time=1.5µs time>1000 time<1ms time<0.1s time>1ns"));
}

TEST(Query, NumbersAreWrittenAsPeopleWriteThem) {
    EXPECT_TRUE(fits("split=+4 split=4. split=4.0 split=0.4e1 split=.4E+1 split=40e-1"));
    for (const char* number : {"inf", "nan", "-", ".", "e4", "1e999", " 4"}) {
        EXPECT_EQ(complaint("split=\"" + std::string(number) + '"'),
                  "query: split is a number, not '" + std::string(number) + "'");
    }
}

TEST(Query, ByIsARuleOrATensor) {
    EXPECT_TRUE(fits("by=1.wgt0"));
    EXPECT_TRUE(fits("by=blk.3.ffn_norm.weight"));
    EXPECT_TRUE(fits("by~1. by~ffn_norm by!=2.sup by!~attn"));
    EXPECT_FALSE(fits("by!=1.wgt0")) << "the rule is";
    EXPECT_FALSE(fits("by!~ffn_norm"));
    EXPECT_FALSE(fits("cause~ffn_norm")) << "a rule, and nothing else";
    Facts facts(Query::parse("by=x"));
    EXPECT_TRUE(facts.wants(Field::by));
    EXPECT_TRUE(facts.wants(Field::cause));
    EXPECT_FALSE(facts.wants(Field::name));
}

TEST(Query, PassTwoIsAllItsSweeps) {
    EXPECT_TRUE(fits("pass=2"));
    EXPECT_TRUE(fits("pass=2a"));
    EXPECT_FALSE(fits("pass=2b"));
    EXPECT_FALSE(fits("pass!=2"));
}

TEST(Query, WhatIsNotKnownMatchesNoTerm) {
    EXPECT_FALSE(fits("kernel=x"));
    EXPECT_FALSE(fits("kernel!=x"));
    EXPECT_FALSE(fits("step>0"));
    EXPECT_FALSE(fits("step!=0"));
}

TEST(Query, QuotesKeepSpacesAndSigns) {
    Facts facts;
    facts.set(Field::name, "a b=c");
    EXPECT_TRUE(Query::parse("name=\"a b=c\"").matches(facts));
    EXPECT_TRUE(Query::parse("\"b=c\"").matches(facts));
    EXPECT_FALSE(Query::parse("\"b = c\"").matches(facts));
}

TEST(Query, QuotesKeepBars) {
    Facts facts;
    facts.set(Field::name, "a|b");
    EXPECT_TRUE(Query::parse("name=\"a|b\"").matches(facts));
    EXPECT_TRUE(Query::parse("\"a|b\"").matches(facts));
    EXPECT_TRUE(Query::parse("name=c|\"a|b\"").matches(facts));
    EXPECT_FALSE(Query::parse("name=\"c|b\"").matches(facts));
    EXPECT_FALSE(Query::parse("name=a|b").matches(facts));
}

TEST(Query, SaysWhatIsWrong) {
    EXPECT_EQ(complaint("opp=MUL"), "query: 'opp' is no field; did you mean op?");
    EXPECT_EQ(complaint("zzzzz=MUL"), "query: 'zzzzz' is no field; there are name op type backend from cause pass by kind why "
                                      "kernel bytes time split eval step node id error");
    EXPECT_EQ(complaint("op="), "query: nothing stands after 'op='");
    EXPECT_EQ(complaint("op>3"), "query: op is a text: use != !~ = ~ in 'op>3'");
    EXPECT_EQ(complaint("bytes~3"), "query: bytes is a number: use != <= >= = < > in 'bytes~3'");
    EXPECT_EQ(complaint("bytes>x"), "query: bytes is a number, not 'x'");
    EXPECT_EQ(complaint("bytes>3Q"), "query: '3Q' has an unknown unit; there are B KiB MiB GiB K M G KB MB GB");
    EXPECT_EQ(complaint("split>3M"), "query: split is a plain number, without a unit: not '3M'");
    EXPECT_EQ(complaint("time>nan"), "query: time is a number, not 'nan'");
    EXPECT_EQ(complaint("name=\"a"), "query: a quote is not closed in 'name=\"a'");
    for (const char* word : {"name~a|", "name~|a", "a||b", "op=ADD|"}) {
        EXPECT_EQ(complaint(word), "query: nothing stands beside a bar in '" + std::string(word) + "'");
    }
    EXPECT_EQ(complaint("bytes>\"1\n\u202E\x9b\""),
              "query: '1\\n?\uFFFD' has an unknown unit; there are B KiB MiB GiB K M G KB MB GB")
        << "in one line";
    EXPECT_LT(complaint("bytes>" + std::string(100'000, 'x')).size(), 200U);
    EXPECT_TRUE(complaint("=3").starts_with("query: nothing stands before the sign in '=3'"));
}

/// Of a trace with these two backends.
std::string complaint_of_words(std::string_view query) {
    KnownWords words;
    words.add_backend("CPU");
    words.add_backend("Vulkan0");
    try {
        words.check(Query::parse(query));
    } catch (const Error& error) {
        return error.what();
    }
    return "none";
}

TEST(KnownWords, WhatCanMatchNothingIsTold) {
    EXPECT_EQ(complaint_of_words("backend=Vulkan7"), "query: 'Vulkan7' is no backend; there are CPU Vulkan0");
    EXPECT_EQ(complaint_of_words("from!=Vulkan7"), "query: 'Vulkan7' is no backend; there are CPU Vulkan0");
    EXPECT_EQ(complaint_of_words("backend~gpu"), "query: 'gpu' is part of no backend; there are CPU Vulkan0");
    EXPECT_EQ(complaint_of_words("backend=cpu|Vulkan7"), "query: 'Vulkan7' is no backend; there are CPU Vulkan0");
    EXPECT_EQ(complaint_of_words("pass=2e"), "query: '2e' is no pass; there are 1 2a 2b 2c 2d 3 4 5 optimise allocate execute");
    EXPECT_EQ(complaint_of_words("cause=1.weight").find("query: '1.weight' is no rule; there are usr 1.dst 1.vsrc 1.inp "), 0U);
    EXPECT_EQ(complaint_of_words("op=MUL_MATT"), "query: 'MUL_MATT' is no operator; did you mean MUL_MAT?");
    EXPECT_EQ(complaint_of_words("cause=1.wgt"), "query: '1.wgt' is no rule; did you mean 1.wgt0, 1.wgt1 or 1.wgt2?");
    EXPECT_THAT(complaint_of_words("op=MUL_NONSENSE"),
                ::testing::StartsWith("query: 'MUL_NONSENSE' is no operator; there are MUL_MAT MUL_MAT_ID MUL "))
        << "those that begin like it come first";
}

TEST(KnownWords, WhatThereMayBeIsNotRefused) {
    for (const char* query : {"op=mul_mat|silu|swiglu", "pass=2 pass!=2b", "type=f16|prefill", "kind=leaf|query", "cause~wgt",
                              "name=nonsense", "by=nonsense", "why=nonsense", "kernel=nonsense", "backend=CPU from~vulkan"}) {
        EXPECT_EQ(complaint_of_words(query), "none") << query;
    }
    EXPECT_NO_THROW(KnownWords().check(Query::parse("backend=Vulkan7"))) << "backends are not known yet";
    KnownWords words;
    words.add(Field::op, "MY_OP");
    EXPECT_NO_THROW(words.check(Query::parse("op=my_op")));
}

TEST(KnownWords, WhatIsAcceptedIsNotOffered) {
    KnownWords words;
    words.add_backend("CPU");
    words.accept(Field::backend, "CPU by 1.wgt0");
    EXPECT_NO_THROW(words.check(Query::parse("backend~wgt0")));
    try {
        words.check(Query::parse("backend=CUDA"));
        FAIL();
    } catch (const Error& error) {
        EXPECT_STREQ(error.what(), "query: 'CUDA' is no backend; there are CPU");
    }
}

TEST(Query, KnowsWhatItAsksAbout) {
    const Query query = Query::parse("gate bytes>1");
    EXPECT_TRUE(query.asks(Field::name));
    EXPECT_TRUE(query.asks(Field::bytes));
    EXPECT_FALSE(query.asks(Field::op));
    EXPECT_EQ(query.text(), "gate bytes>1");
}

} // namespace
} // namespace schedscope::query
