// A trace that was made from a log: what no log tells is shown as unknown, in each view.
#include "tests/inspector/tui/harness/imported.h"
#include "tests/inspector/tui/harness/inspecting.h"

#include "inspector/tui/views/facts.h"
#include "tests/inspector/tui/harness/samples.h"

#include <gtest/gtest.h>

namespace schedscope {
namespace {

using test::Inspecting;
using test::line_with;

class Imported : public ::testing::Test {
protected:
    Inspecting t{24, 130, [] { return test::inspect_imported("2026-05"); }}; // of its 9 nodes, #4 is not in the log
    void open(char key, const std::string& title) {
        t.press(std::string(1, key));
        ASSERT_TRUE(t.shows("├ " + title)) << t.text();
    }
};

TEST_F(Imported, NodesThatAreMissingHaveNoPlace) {
    t.press(":step 1000000\n/op=?\n");
    ASSERT_TRUE(t.shows("found (not in the log)")) << t.text();
    EXPECT_NE(line_with(t, "│▸", "4 ?", "(not in the log)", " ?       ?"), "") << t.text();
    EXPECT_TRUE(t.shows("┬ (not in the log) ")) << t.text();
    EXPECT_TRUE(t.shows("where it runs is not in the log")) << t.text();
    EXPECT_EQ(line_with(t, "unassigned"), "") << t.text();
}

TEST_F(Imported, QueriesTellNoOperatorWhereThereIsNone) {
    open('9', "queries");
    EXPECT_EQ(line_with(t, "NONE"), "") << t.text();
    EXPECT_NE(line_with(t, " ?  ", "these are not in the log"), "") << t.text();
    EXPECT_NE(line_with(t, "MUL_MAT", "Vulkan0", " 2    ?    2     ?"), "") << t.text();
    t.press("/op=?\n");
    ASSERT_TRUE(t.shows("┬ not in the log ")) << t.text();
    EXPECT_TRUE(t.shows("#4 ? (not in the log)")) << t.text();
    t.press("/op=MUL_MAT\n");
    ASSERT_TRUE(t.shows("┬ MUL_MAT on ")) << t.text();
    EXPECT_TRUE(t.shows("what was asked is not in the log")) << t.text();
}

TEST_F(Imported, CopiesAndTokensTellNoTimes) {
    open('3', "copies");
    EXPECT_NE(line_with(t, "inp_embd", "Vulkan0", " 10.0 KiB        ?      ?"), "") << t.text();
    open('7', "tokens & reuse");
    EXPECT_NE(line_with(t, " 0 imported", " ? planned            ? ?"), "") << t.text();
    EXPECT_TRUE(t.shows("in      the log does not tell")) << t.text();
}

TEST_F(Imported, WhatIfSaysThatItIsUnknown) {
    open('8', "what if");
    EXPECT_TRUE(t.shows("nothing can be planned again: this trace was imported from a log")) << t.text();
}

TEST_F(Imported, AskingWhatIfIsAnsweredAndTheInspectorGoesOn) {
    t.press("wngl=1\n");
    ASSERT_TRUE(t.shows("nothing can be planned again: ")) << t.text();
    t.press("q");
    EXPECT_EQ(t.wait_for_exit(), 0);
}

TEST(ImportedLevelOne, NamesNoNodes) {
    Inspecting t(24, 130, [] { return test::inspect_imported("level-1"); });
    t.press("2");
    ASSERT_TRUE(t.shows("nodes unknown")) << t.text();
    t.press("9");
    ASSERT_TRUE(t.shows("which operators there are is unknown")) << t.text();
}

TEST(ImportedFacts, SayWhatTheListsSay) {
    History history(test::imported("2026-05"));
    const PlanState& state = history.plan(0);
    tui::Describer describer(history);
    tui::Facts facts;
    const TensorId missing = history.graph_of(state)->nodes[4];
    describer.tensor(state, missing, facts);
    EXPECT_EQ(facts.text(tui::Field::op), "?");
    EXPECT_EQ(facts.text(tui::Field::backend), "?");
    EXPECT_EQ(facts.text(tui::Field::kind), "node");
}

} // namespace
} // namespace schedscope
