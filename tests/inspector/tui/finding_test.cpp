// Finding things: commands and their completion, jumps, marks, stories, causes.
#include "tests/inspector/tui/harness/inspecting.h"
#include "tests/inspector/tui/harness/programs.h"
#include "tests/inspector/tui/harness/samples.h"
#include "tests/support/terminal.h"

#include <gtest/gtest.h>

namespace schedscope {
namespace {

using test::inspect_made;
using test::Inspecting;

TEST(Finding, TabCompletesCommandsAndTheirArguments) {
    Inspecting t(24, 100, inspect_made);
    t.press(":fil\t");
    ASSERT_TRUE(t.shows("│ :filter")) << t.text();
    t.press(" op=SOFT\t");
    ASSERT_TRUE(t.shows(":filter op=SOFT_MAX")) << t.text();
    t.press("|RO\t");
    ASSERT_TRUE(t.shows(":filter op=SOFT_MAX|ROPE")) << t.text();
    t.press("\n");
    ASSERT_TRUE(t.shows("nodes, filtered")) << t.text();
    t.press("{Esc}:vi\t spl\t\n");
    ASSERT_TRUE(t.shows("├ splits ")) << t.text();
    t.press(":tensor attn_norm-\t");
    ASSERT_TRUE(t.shows("attn_norm-0  attn_norm-1  attn_norm-2")) << t.text();
    t.press("\t");
    ASSERT_TRUE(t.shows(":tensor attn_norm-1")) << t.text();
    t.press("{BackTab}");
    ASSERT_TRUE(t.shows(":tensor attn_norm-0")) << t.text();
    t.press("\n");
    EXPECT_TRUE(t.shows("┬ attn_norm-0 ")) << t.text();
}

TEST(Finding, TabCompletesQueriesOfSearchesAndBreakpoints) {
    Inspecting t(24, 100, inspect_made);
    t.press("/ba\t");
    ASSERT_TRUE(t.shows("/backend=")) << t.text();
    t.press("gp\t");
    ASSERT_TRUE(t.shows("/backend=GPU0")) << t.text() << "case doesn't matter";
    t.press("{Esc}bkind=ex\t cau\t1.w\t");
    EXPECT_TRUE(t.shows("break on kind=execute cause=1.wgt")) << t.text();
}

TEST(Finding, EveryActionIsACommand) {
    Inspecting t(24, 100, inspect_made);
    t.press(":first-step\n");
    ASSERT_TRUE(t.shows("step 0/")) << t.text();
    t.press(":next-ev\n");
    EXPECT_TRUE(t.shows("eval 1 (0…2)")) << t.text();
}

TEST(Finding, JumpsLeadBackAndForward) {
    Inspecting t(24, 100, inspect_made);
    for (const char* name : {"kq-0", "kq-1", "kq-2"}) {
        t.press(std::string(":tensor ") + name + "\n");
        ASSERT_TRUE(t.shows(std::string("┬ ") + name + " ")) << t.text();
    }
    t.press("{Ctrl-O}");
    ASSERT_TRUE(t.shows("┬ kq-1 ")) << t.text();
    t.press("(");
    ASSERT_TRUE(t.shows("┬ kq-0 ")) << t.text();
    t.press("))");
    ASSERT_TRUE(t.shows("┬ kq-2 ")) << t.text();
    t.press(")");
    EXPECT_TRUE(t.shows("no way back was gone")) << t.text();
}

TEST(Finding, AJumpThatFailsLeavesTheWayForward) {
    Inspecting t(24, 100, inspect_made);
    t.press(":step 500\n");
    ASSERT_TRUE(t.shows("step 500/")) << t.text();
    t.press(":back\n");
    ASSERT_TRUE(t.hides("step 500/")) << t.text();
    for (const char* nowhere : {":step 999999\n", ":999999\n", ":eval 99\n"}) {
        t.press(nowhere);
        ASSERT_TRUE(t.shows("there is no ")) << t.text();
    }
    t.press("/nonsense\n");
    ASSERT_TRUE(t.shows("no line of this list matches")) << t.text();
    t.press(":forward\n");
    EXPECT_TRUE(t.shows("step 500/")) << t.text();
}

TEST(Finding, TabKnowsTheReasonsPicturesAndWhatIfs) {
    Inspecting t(24, 200, inspect_made);
    t.press("/why=missing\t");
    ASSERT_TRUE(t.shows("/why=\"missing device feature\"")) << t.text();
    t.press("{Esc}:what-if offl\t");
    ASSERT_TRUE(t.shows(":what-if offload-min-batch=")) << t.text();
    t.press("{Esc}:what-if nk\t");
    ASSERT_TRUE(t.shows(":what-if nkvo=o")) << t.text();
    t.press("{Esc}:what-if ot=ffn=G\t");
    ASSERT_TRUE(t.shows(":what-if ot=ffn=GPU0")) << t.text();
    t.press("{Esc}:dot mem\t");
    ASSERT_TRUE(t.shows(":dot memory")) << t.text();
}

TEST(Finding, MarksComeBackToStepViewAndTensor) {
    Inspecting t(24, 100, inspect_made);
    t.press("2:step 700\n");
    ASSERT_TRUE(t.shows("step 700/"));
    t.press("mx");
    ASSERT_TRUE(t.shows("' x comes back here")) << t.text();
    t.press("1<");
    ASSERT_TRUE(t.shows("step 0/"));
    t.press("'x");
    ASSERT_TRUE(t.shows("step 700/")) << t.text();
    EXPECT_NE(t.text().find("├ splits"), std::string::npos) << t.text();
    t.press("''");
    ASSERT_TRUE(t.shows("step 0/")) << t.text();
    t.press("'y");
    ASSERT_TRUE(t.shows("nothing is marked y: there are x")) << t.text();
    t.press("m1");
    ASSERT_TRUE(t.shows("a mark is a letter from a to z")) << t.text();
    t.press(":marks\n");
    ASSERT_TRUE(t.shows("step 700 ")) << t.text();
    t.press("{Enter}");
    EXPECT_TRUE(t.shows("step 700/")) << t.text();
}

TEST(Finding, TheCauseIsFollowedUpTheChain) {
    Inspecting t(24, 120, inspect_made);
    t.press(":tensor attn_norm-3\n");
    ASSERT_TRUE(t.shows("┬ attn_norm-3 "));
    t.press("u");
    ASSERT_TRUE(t.shows("┬ attn_norm.w-3 ")) << t.text();
    EXPECT_NE(t.text().find("attn_norm-3: GPU0 by 1.wgt1 because of attn_norm.w-3"), std::string::npos) << t.text();
    t.press("u");
    ASSERT_TRUE(t.shows("no other tensor made it so")) << t.text();
    t.press("(");
    EXPECT_TRUE(t.shows("┬ attn_norm-3 ")) << t.text();
}

/// A line of splits, of operators, of evaluations stands for many tensors: what is jumped to is shown among the nodes.
class JumpFrom : public ::testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Finding, JumpFrom, ::testing::Values("2", "4", "7", "8", "9"));

TEST_P(JumpFrom, AViewWithoutALineForTheTensorLandsOnIt) {
    Inspecting t(24, 140, inspect_made);
    t.press(":tensor attn_norm-3\n");
    ASSERT_TRUE(t.shows("┬ attn_norm-3 "));
    t.press(std::string(GetParam()) + "u");
    ASSERT_TRUE(t.shows("┬ attn_norm.w-3 ")) << t.text();
    EXPECT_NE(t.text().find("▸1 nodes"), std::string::npos) << t.text();
    EXPECT_NE(t.text().find("because of attn_norm.w-3 · u goes on · Backspace goes back"), std::string::npos) << t.text();
    t.press("(");
    EXPECT_TRUE(t.shows(std::string("▸") + GetParam() + " ")) << t.text();
}

TEST(Finding, AJumpStaysInAViewThatHasALineForTheTensor) {
    Inspecting t(40, 140, inspect_made);
    t.press(":tensor kqv_out-3\n5r");
    ASSERT_TRUE(t.shows("attn_out-3 alone reads kqv_out-3")) << t.text();
    EXPECT_TRUE(t.shows("┬ attn_out-3 ")) << t.text();
    EXPECT_NE(t.text().find("▸5 memory"), std::string::npos) << t.text();
    t.press(":tensor kqv-3\n5r"); // by a view, which has no memory of its own
    ASSERT_TRUE(t.shows("kqv_perm-3 alone reads kqv-3 · Backspace goes back")) << t.text();
    EXPECT_TRUE(t.shows("┬ kqv_perm-3 ")) << t.text();
    EXPECT_NE(t.text().find("▸1 nodes"), std::string::npos) << t.text();
}

TEST(Finding, ReadersAndSourcesAreChosenOnAPage) {
    Inspecting t(40, 120, inspect_made);
    t.press(":tensor kq-3\n");
    ASSERT_TRUE(t.shows("┬ kq-3 "));
    t.press("d");
    ASSERT_TRUE(t.shows(" what is read by kq-3 ")) << t.text();
    t.press("{Down}{Enter}");
    ASSERT_TRUE(t.hides(" what is read by kq-3 ")) << t.text();
    EXPECT_EQ(t.text().find("┬ kq-3 "), std::string::npos) << t.text();
    t.press("r");
    ASSERT_TRUE(t.wait_until([&] { return t.text().find("reads ") != std::string::npos; })) << t.text();
}

TEST(Finding, WhatWasToldGoesWithTheNextKey) {
    Inspecting t(24, 120, inspect_made);
    ASSERT_TRUE(t.shows("│ ? shows the keys"));
    t.press(":tensor attn_norm-3\nu");
    ASSERT_TRUE(t.shows("because of attn_norm.w-3")) << t.text();
    t.press("2");
    EXPECT_TRUE(t.hides("because of attn_norm.w-3")) << t.text();
    t.press("1{End}{Down}");
    ASSERT_TRUE(t.shows("this is the last line")) << t.text();
    t.press("{Up}");
    EXPECT_TRUE(t.hides("this is the last line")) << t.text();
}

TEST(Finding, AFilterThatHidesWhatWasJumpedToSaysSo) {
    Inspecting t(24, 120, inspect_made);
    t.press(":tensor attn_norm-3\n&op=MUL\nu");
    EXPECT_TRUE(t.shows("the filter hides it: Esc shows all")) << t.text();
}

TEST(Finding, AFilterThatHidesTheSelectedTensorSelectsTheLineThatIsLeft) {
    Inspecting t(24, 120, inspect_made);
    t.press(":tensor attn_norm-3\n&op=ROPE\n");
    ASSERT_TRUE(t.shows(" match op=ROPE")) << t.text();
    const std::string screen = t.text();
    const size_t begin = screen.find("┬ ") + std::string("┬ ").size();
    const std::string highlighted = screen.substr(begin, screen.find(' ', begin) - begin);
    ASSERT_NE(highlighted, "attn_norm-3") << screen;
    t.press("e");
    EXPECT_TRUE(t.shows(" the story of " + highlighted + " ")) << t.text();
}

/// As `schedscope explain` takes it: the first that computes, and the others are told.
TEST(Finding, ANameOfSeveralMeansTheFirstThatComputes) {
    Inspecting t(50, 120, [] { return test::inspect_sample("partial-offload"); });
    t.press(":tensor Qcur-1\n");
    ASSERT_TRUE(t.shows("Qcur-1@88, the first that computes; also Qcur-1@89, Qcur-1@90")) << t.text();
    t.press("e");
    ASSERT_TRUE(t.shows(" the story of Qcur-1 ")) << t.text();
    t.press("{End}");
    EXPECT_TRUE(t.shows("same name     told is Qcur-1@88, the first that computes; 2 others, each by NAME@ID:")) << t.text();
    EXPECT_TRUE(t.shows("Qcur-1@89 (RESHAPE)")) << t.text();
    t.press("{Esc}:explain Vcur-1\n");
    ASSERT_TRUE(t.shows(" the story of Vcur-1 ")) << t.text();
    t.press("{End}");
    EXPECT_TRUE(t.shows("told is Vcur-1@91, which computes it; 1 other")) << t.text();
    t.press("{Esc}:tensor Qcur-1@90\ne{End}");
    EXPECT_TRUE(t.shows("told is Qcur-1@90; 2 others")) << "neither the first nor alone: " << t.text();
    t.press("{Esc}:tensor attn_norm-1\ne{End}");
    ASSERT_TRUE(t.shows(" the story of attn_norm-1 ")) << t.text();
    EXPECT_EQ(t.find("same name").first, -1) << t.text();
}

TEST(Finding, AStoryOnAPageLeadsToItsSteps) {
    Inspecting t(40, 120, inspect_made);
    t.press(":explain attn_norm-3\n");
    ASSERT_TRUE(t.shows(" the story of attn_norm-3 ")) << t.text();
    EXPECT_NE(t.text().find("GPU0 by 1.wgt1 (attn_norm.w-3): its weight lies there"), std::string::npos) << t.text();
    EXPECT_NE(t.text().find("Enter opens"), std::string::npos) << t.text();
    t.press("?");
    ASSERT_TRUE(t.shows(" keys that work here ")) << t.text();
    EXPECT_EQ(t.text().find("next step (one record)"), std::string::npos) << "on the page they do nothing:\n" << t.text();
    t.press("{Esc}");
    ASSERT_TRUE(t.shows(" the story of attn_norm-3 ")) << t.text();
    t.press("n");
    ASSERT_TRUE(t.shows("n does nothing here")) << t.text();
    t.press("{Esc}");
    EXPECT_TRUE(t.hides(" the story of attn_norm-3 ")) << t.text();
}

/// What it says is nowhere else: the keys' page has it, of a program that runs and of a trace.
TEST(Finding, TheKeysPageSaysWhatTheTopLineMeans) {
    for (int (*const inspect)() : {test::inspect_made_live, inspect_made}) {
        Inspecting t(120, 120, inspect);
        t.press("?");
        ASSERT_TRUE(t.shows(" keys that work here ")) << t.text();
        for (const char* said : {"The top line", "HELD              the program waits in front of its next record",
                                 "ENDED             the program has ended", "between passes    this step belongs to no pass"}) {
            EXPECT_NE(t.text().find(said), std::string::npos) << said << '\n' << t.text();
        }
    }
}

TEST(Finding, WhatCanNotBeSaysWhy) {
    Inspecting t(24, 120, inspect_made);
    for (const auto& [keys, why] : {std::pair{":sort zebra\n", "no column 'zebra': there are #, id, op, name"},
                                    {":mark 7\n", "a mark is a letter from a to z, not '7'"},
                                    {":jump z\n", "nothing is marked z"},
                                    {":hold\n", "nothing runs: this is a recorded trace"},
                                    {":set colour red\n", "colour is one of auto none 8 16 256 direct, not 'red'"},
                                    {":set frob 1\n", "no setting 'frob'"},
                                    {":dot a.txt\n", "a picture's name ends in .dot, .svg, .png or .pdf"},
                                    {":write /dev/null/x\n", "/dev/null/x can't be written: Not a directory"},
                                    {":write /etc/passwd\n", "/etc/passwd exists: :write! /etc/passwd overwrites it"},
                                    {":write\n", "write needs FILE"},
                                    {"{Esc}", "nothing to leave: q quits"}}) {
        t.press(keys);
        EXPECT_TRUE(t.shows(why)) << t.text();
    }
}

} // namespace
} // namespace schedscope
