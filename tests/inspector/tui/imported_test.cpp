// A trace that was made from a log: what no log tells is shown as unknown, in each view.
#include "tests/inspector/tui/harness/imported.h"
#include "tests/inspector/tui/harness/inspecting.h"

#include "tests/inspector/tui/harness/samples.h"
#include "viz/query/describer.h"

#include <gtest/gtest.h>

namespace schedscope {
namespace {

using test::Inspecting;
using test::line_with;

class Imported : public ::testing::Test {
protected:
    Inspecting t{24, 130, [] { return test::inspect_imported("2026-05"); }}; // of its 9 nodes, the log lacks #4
    void open(char key, const std::string& title) {
        t.press(std::string(1, key));
        ASSERT_TRUE(t.shows("├ " + title)) << t.text();
    }
};

TEST_F(Imported, NodesThatAreMissingHaveNoPlace) {
    t.press(":step 1000000\n");
    EXPECT_EQ(line_with(t, "4 ?", "(unknown)"), "") << "it says nothing: " << t.text();
    EXPECT_NE(line_with(t, " 5 "), "") << "the others keep their numbers: " << t.text();
    t.press(":set unknown on\n/op=?\n");
    ASSERT_TRUE(t.shows("found (unknown)")) << t.text();
    EXPECT_NE(line_with(t, "│▸", "4 ?", "(unknown)", " ?       ?"), "") << t.text();
    EXPECT_TRUE(t.shows("┬ (unknown) ")) << t.text();
    EXPECT_TRUE(t.shows("where it runs is not known")) << t.text();
    EXPECT_EQ(line_with(t, "unassigned"), "") << t.text();
}

TEST_F(Imported, QueriesTellNoOperatorWhereThereIsNone) {
    t.press(":set unknown on\n");
    open('9', "queries");
    EXPECT_EQ(line_with(t, "NONE"), "") << t.text();
    EXPECT_NE(line_with(t, " ?  ", "these are not known"), "") << t.text();
    EXPECT_NE(line_with(t, "MUL_MAT", "Vulkan0", " 2    ?    2     ?"), "") << t.text();
    t.press("/op=?\n");
    ASSERT_TRUE(t.shows("┬ not known ")) << t.text();
    EXPECT_TRUE(t.shows("#4 ? (unknown)")) << t.text();
    t.press("/op=MUL_MAT\n");
    ASSERT_TRUE(t.shows("┬ MUL_MAT on ")) << t.text();
    EXPECT_TRUE(t.shows("what was asked is unknown: this trace has no records of")) << t.text();
}

TEST_F(Imported, CopiesAndTokensTellNoTimes) {
    open('3', "copies");
    EXPECT_NE(line_with(t, "inp_embd", "Vulkan0", " 10.0 KiB"), "") << t.text();
    EXPECT_EQ(line_with(t, "inp_embd", "?"), "") << t.text();
    open('7', "tokens & reuse");
    EXPECT_NE(line_with(t, " 0 prefill", "planned"), "") << t.text();
    EXPECT_EQ(line_with(t, " 0 prefill", "?"), "") << t.text();
    EXPECT_EQ(line_with(t, "? tokens"), "") << t.text();
    t.press(":set unknown on\n");
    EXPECT_TRUE(t.shows("in      ? tokens, ? sequences, ? outputs")) << t.text();
    EXPECT_NE(line_with(t, " 0 prefill", " ? planned          ? ?"), "") << t.text();
    open('3', "copies");
    EXPECT_NE(line_with(t, "inp_embd", "Vulkan0", " 10.0 KiB        ?"), "") << t.text();
}

TEST_F(Imported, ABreakpointOnTokensIsNeverMetAndThatIsToldAtOnce) {
    t.press(":break kind=token\n");
    ASSERT_TRUE(t.shows("no breakpoint on kind=token: which tokens were sampled is unknown: this trace has no tokens"))
        << t.text();
    t.press(":break kind=split_begin\n");
    EXPECT_TRUE(t.shows("breakpoint on kind=split_begin: c goes on to it, C back")) << "the first one: " << t.text();
    EXPECT_TRUE(t.hides("lists all")) << t.text();
}

TEST_F(Imported, WhatIfSaysThatItIsUnknown) {
    open('8', "what if");
    EXPECT_TRUE(t.shows("nothing can be planned again: this trace has no answers of backends")) << t.text();
}

TEST_F(Imported, AStoryEndsWithTheReasonAsExplainHasIt) {
    t.press(":tensor attn_norm-0\ne{End}");
    EXPECT_TRUE(t.shows("otherwise     not known: nothing can be planned again")) << t.text();
}

TEST_F(Imported, AskingWhatIfIsAnsweredAndTheInspectorGoesOn) {
    t.press("wngl=1\n");
    ASSERT_TRUE(t.shows("nothing can be planned again: ")) << t.text();
    t.press("q");
    EXPECT_EQ(t.wait_for_exit(), 0);
}

TEST_F(Imported, BytesOfWhichOnlySomeAreKnownAreAtLeastThose) {
    open('2', "splits");
    EXPECT_TRUE(t.shows("bytes ≥ 12.0 MiB")) << t.text();
    EXPECT_NE(line_with(t, " 1 ", "Vulkan0", "≥ 10.0 KiB"), "") << t.text();
}

TEST(ImportedLevelOne, NamesNoNodes) {
    Inspecting t(24, 130, [] { return test::inspect_imported("level-1"); });
    t.press("2");
    ASSERT_TRUE(t.shows("nodes unknown")) << t.text();
    EXPECT_EQ(t.find("time not known").first, -1) << "a log tells no times, which nobody asked for: " << t.text();
    t.press("9");
    ASSERT_TRUE(t.shows("which operators there are is unknown")) << t.text();
}

TEST(ImportedFacts, SayWhatTheListsSay) {
    History history(test::imported("2026-05"));
    const PlanState& state = history.plan(0);
    query::Describer describer(history);
    query::Facts facts;
    const TensorId missing = history.graph_of(state)->nodes[4];
    describer.tensor(state, missing, facts);
    EXPECT_EQ(facts.text(query::Field::op), "?");
    EXPECT_EQ(facts.text(query::Field::backend), "?");
    EXPECT_EQ(facts.text(query::Field::kind), "node");
}

TEST(ImportedNodes, AreAtLeastThoseThatTheLogLists) {
    Inspecting t{40, 160, [] { return test::inspect_imported("2026-05"); }};
    t.press(":diff " + test::sample_path("all-cpu") + "\n");
    ASSERT_TRUE(t.shows("├ 91 differences in 11 rows: diff all-cpu.trace")) << t.text();
    EXPECT_NE(line_with(t, "nodes on CPU", "at least 2"), "") << t.text();
}

/// `show --what memory` lists them.
TEST(ImportedMemory, HasTheSizesOfBuffersThatTheLogTells) {
    Inspecting t{24, 130, [] { return test::inspect_imported("several"); }};
    t.press(":step 1000000\n5");
    ASSERT_TRUE(t.shows("├ memory")) << t.text();
    EXPECT_TRUE(t.shows("compute buffers: Vulkan0 about 2.50 MiB")) << t.text();
}

} // namespace
} // namespace schedscope
