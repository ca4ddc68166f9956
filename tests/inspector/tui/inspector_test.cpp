// The inspector as a user meets it: keys in, screen out.
#include "inspector/tui/inspector.h"

#include "tests/inspector/tui/harness/inspecting.h"
#include "tests/inspector/tui/harness/programs.h"
#include "tests/inspector/tui/harness/samples.h"
#include "tests/support/terminal.h"
#include "tests/support/traces/made_trace.h"

#include <gtest/gtest.h>

#include <csignal>

#include <unistd.h>

namespace schedscope {
namespace {

using test::Inspecting;
using test::Terminal;

int inspect(const InspectorOptions& options = {}) { return test::inspect_made_with(options); }

TEST(Inspector, ShowsWhereItStandsAndWhatThereIs) {
    Inspecting t(24, 80, [] { return inspect(); });
    EXPECT_NE(t.line(0).find("made.trace ─ eval 0 (0…2) prefill ─ "), std::string::npos) << t.text();
    EXPECT_NE(t.line(1).find("5 split opt alloc exec"), std::string::npos) << t.text();
    EXPECT_NE(t.line(2).find("├ nodes "), std::string::npos) << t.text();
    EXPECT_NE(t.line(3).find("# op        name"), std::string::npos) << t.text();
    EXPECT_NE(t.line(4).find("GET_ROWS  embd"), std::string::npos) << t.text();
    EXPECT_NE(t.line(22).find("n/p step  N/P pass"), std::string::npos) << t.text();
    EXPECT_TRUE(t.colored());
    EXPECT_TRUE(t.alternate_screen());
    EXPECT_TRUE(t.mouse_reported());
    EXPECT_FALSE(t.cursor_visible());
}

TEST(Inspector, QuittingLeavesTheTerminalAsItWas) {
    Inspecting t(24, 80, [] { return inspect(); });
    EXPECT_FALSE(t.is_cooked());
    t.press("q");
    EXPECT_EQ(t.wait_for_exit(), 0);
    EXPECT_TRUE(t.is_cooked());
    EXPECT_FALSE(t.alternate_screen());
    EXPECT_FALSE(t.mouse_reported());
    EXPECT_TRUE(t.cursor_visible());
}

class Ending : public ::testing::TestWithParam<int> {};

TEST_P(Ending, ASignalLeavesTheTerminalAsItWas) {
    Inspecting t(24, 80, [] { return inspect(); });
    t.send_signal(GetParam());
    const int code = t.wait_for_exit();
    const bool dies = GetParam() == SIGSEGV || GetParam() == SIGABRT || GetParam() == SIGQUIT;
    EXPECT_EQ(code, dies ? 256 + GetParam() : GetParam() == SIGINT ? 130 : 128 + GetParam());
    EXPECT_TRUE(t.is_cooked());
    EXPECT_FALSE(t.alternate_screen());
    EXPECT_FALSE(t.mouse_reported());
    EXPECT_TRUE(t.cursor_visible());
}
INSTANTIATE_TEST_SUITE_P(By, Ending, ::testing::Values(SIGTERM, SIGHUP, SIGINT, SIGSEGV, SIGABRT, SIGQUIT));

TEST(Inspector, StepsThereAndBackShowTheSame) {
    Inspecting t(24, 80, [] { return inspect(); });
    t.press(":step 500\n");
    ASSERT_TRUE(t.shows("step 500/"));
    t.press("n");
    ASSERT_TRUE(t.shows("step 501/"));
    t.press("n");
    ASSERT_TRUE(t.shows("step 502/"));
    t.press("p"); // from the other side, so that the list stands where it will stand again
    ASSERT_TRUE(t.shows("step 501/"));
    const std::string there = t.text();
    t.press("n");
    ASSERT_TRUE(t.shows("step 502/"));
    EXPECT_NE(t.text(), there);
    t.press("p");
    ASSERT_TRUE(t.shows("step 501/"));
    EXPECT_EQ(t.text(), there);
}

TEST(Inspector, TheStatusLineSaysWhatAStepChanged) {
    Inspecting t(24, 120, [] { return inspect(); });
    t.press("<");
    ASSERT_TRUE(t.shows("step 0/"));
    t.press("bkind=assign name=attn_norm-3\n");
    ASSERT_TRUE(t.shows("breakpoint on kind=assign"));
    t.press("c");
    ASSERT_TRUE(t.shows("breakpoint: attn_norm-3"));
    EXPECT_NE(t.line(21).find("attn_norm-3: - → GPU0 by 1.wgt1 (attn_norm.w-3)"), std::string::npos) << t.text();
    EXPECT_NE(t.text().find("▸1     GPU0 by 1.wgt1 (attn_norm.w-3): its weight lies"), std::string::npos) << t.text();
}

TEST(Inspector, TokensTellWhichSamplerTheirBackendLacksAnOperatorFor) {
    Inspecting t(40, 160, [] { return inspect(); });
    t.press("7");
    ASSERT_TRUE(t.shows("├ tokens & reuse "));
    EXPECT_TRUE(t.shows("-top_k on the host, 40 candidates left")) << t.text();
    EXPECT_TRUE(t.shows("can't run TOP_K)")) << t.text();
}

TEST(Inspector, TheFirstAndTheLastStepSayThatTheyAre) {
    Inspecting t(24, 80, [] { return inspect(); });
    t.press("<");
    ASSERT_TRUE(t.shows("step 0/"));
    t.press("p");
    EXPECT_TRUE(t.shows("this is the first step of the trace")) << t.text();
    t.press(">n");
    EXPECT_TRUE(t.shows("this is the last step of the trace")) << t.text();
}

TEST(Inspector, PassesAndEvaluationsAreSteppedAndMarked) {
    Inspecting t(30, 130, [] { return inspect(); });
    t.press("<N");
    ASSERT_TRUE(t.shows("▸1 place")) << t.text();
    t.press("s");
    ASSERT_TRUE(t.shows("▸gpu↓")) << t.text();
    t.press("N");
    ASSERT_TRUE(t.shows("▸rest↑")) << t.text();
    ASSERT_TRUE(t.shows("pass 2 (expand) ends: ")) << t.text();
    t.press("N");
    ASSERT_TRUE(t.shows("▸3 refine")) << t.text();
    t.press("P");
    ASSERT_TRUE(t.shows("▸rest↑")) << t.text();
    t.press("]");
    ASSERT_TRUE(t.shows("eval 1 (0…2) decode")) << t.text();
    t.press("[");
    EXPECT_TRUE(t.shows("eval 0 (0…2) prefill")) << t.text();
}

TEST(Inspector, SearchFindsANodeAndGoesOn) {
    Inspecting t(24, 80, [] { return inspect(); });
    t.press("/op=SOFT_MAX");
    ASSERT_TRUE(t.shows("/op=SOFT_MAX")) << t.text();
    EXPECT_TRUE(t.cursor_visible());
    t.press("\n");
    ASSERT_TRUE(t.shows("found kq_soft_max-0")) << t.text();
    EXPECT_NE(t.text().find("GPU0 no: type, the mask"), std::string::npos) << t.text();
    t.press(".");
    ASSERT_TRUE(t.shows("found kq_soft_max-1")) << t.text();
    t.press(",");
    ASSERT_TRUE(t.shows("found kq_soft_max-0")) << t.text();
    t.press("/{Up}\n");
    EXPECT_TRUE(t.shows("found kq_soft_max-1")) << t.text();
}

TEST(Inspector, ABadQueryIsAnswered) {
    Inspecting t(24, 120, [] { return inspect(); });
    t.press("/opp=MUL\n");
    EXPECT_TRUE(t.shows("query: 'opp' is no field; did you mean op?")) << t.text();
    t.press("/zebra\n");
    EXPECT_TRUE(t.shows("no line of this list matches zebra")) << t.text();
}

TEST(Inspector, AFilterShowsMatchingLinesOnly) {
    Inspecting t(24, 80, [] { return inspect(); });
    t.press("&op=ROPE\n");
    ASSERT_TRUE(t.shows("nodes, filtered")) << t.text();
    EXPECT_NE(t.text().find("8 of "), std::string::npos) << t.text();
    EXPECT_EQ(t.text().find("RMS_NORM"), std::string::npos) << t.text();
    t.press("{Esc}");
    EXPECT_TRUE(t.shows("RMS_NORM")) << t.text();
}

/// The line opens with what is filtered by; "Backspace, Enter" is what its key says of itself.
TEST(Inspector, AFilterIsTakenAwayInTheLineThatItIsTypedIn) {
    Inspecting t(100, 110, [] { return inspect(); });
    t.press("&op=ROPE\n");
    ASSERT_TRUE(t.shows("nodes, filtered")) << t.text();
    t.press("&\n");
    ASSERT_TRUE(t.hides("show only ")) << t.text();
    EXPECT_TRUE(t.shows("nodes, filtered")) << "as it was: " << t.text();
    t.press("&{Backspace}\n");
    EXPECT_TRUE(t.hides("nodes, filtered")) << t.text();
    EXPECT_TRUE(t.shows("RMS_NORM")) << t.text();
    t.press(":keys\n");
    EXPECT_TRUE(t.shows("show only matching lines; all: Backspace, Enter")) << t.text();
}

TEST(Inspector, SplitsSayWhyTheyStart) {
    Inspecting t(24, 160, [] { return inspect(); });
    t.press("2");
    ASSERT_TRUE(t.shows("├ splits ")) << t.text();
    t.press("{Home}{Down}");
    ASSERT_TRUE(t.shows(" split 1 ")) << t.text();
    EXPECT_NE(t.text().find("starts  backend changes at #64"), std::string::npos) << t.text();
    EXPECT_NE(t.text().find("GPU0  nodes 64 to 83"), std::string::npos) << t.text();
    EXPECT_NE(t.text().find("inputs "), std::string::npos) << t.text();
    t.press("{Enter}");
    ASSERT_TRUE(t.shows("├ nodes ")) << t.text();
    t.press("{Backspace}");
    EXPECT_TRUE(t.shows("├ splits ")) << t.text();
}

TEST(Inspector, TheSelectionIsTheSameInAllViews) {
    Inspecting t(24, 120, [] { return inspect(); });
    t.press(":tensor ffn_gate-3\n");
    ASSERT_TRUE(t.shows("┬ ffn_gate-3 ")) << t.text();
    t.press("5");
    ASSERT_TRUE(t.shows("├ memory ")) << t.text();
    EXPECT_NE(t.text().find("┬ ffn_gate-3 "), std::string::npos) << t.text();
    t.press("6");
    ASSERT_TRUE(t.shows("├ timeline ")) << t.text();
    EXPECT_NE(t.text().find("MUL_MAT ffn_gate-3"), std::string::npos) << t.text();
}

TEST(Inspector, EveryViewOpens) {
    Inspecting t(40, 140, [] { return inspect(); });
    for (const auto& [key, title] : {std::pair{"3", "├ copies "},
                                     {"4", "├ fusion & order "},
                                     {"5", "├ memory "},
                                     {"6", "├ timeline "},
                                     {"7", "├ tokens & reuse "},
                                     {"8", "├ what if "},
                                     {"9", "├ queries "},
                                     {"1", "├ nodes "}}) {
        t.press(key);
        EXPECT_TRUE(t.shows(title)) << t.text();
    }
}

TEST(Inspector, TheWindowMayChangeItsSize) {
    Inspecting t(24, 80, [] { return inspect(); });
    const std::string small = t.text();
    t.resize(60, 200);
    ASSERT_TRUE(t.wait_until([&] {
        return t.line(59).find("┘") != std::string::npos && t.text().find("shape") != std::string::npos;
    })) << t.text();
    t.resize(24, 80);
    ASSERT_TRUE(t.wait_until([&] { return t.text() == small; })) << t.text();
    t.resize(5, 20);
    ASSERT_TRUE(t.shows("too small")) << t.text();
    t.resize(1, 1);
    t.resize(24, 80);
    EXPECT_TRUE(t.wait_until([&] { return t.text() == small; })) << t.text();
}

TEST(Inspector, OnASmallScreenTheListIsShownAndWorks) {
    Inspecting t(10, 40, [] { return inspect(); });
    EXPECT_TRUE(t.shows("├ nodes ")) << t.text();
    EXPECT_EQ(t.text().find("too small"), std::string::npos) << t.text();
    const std::string list = t.text();
    EXPECT_NE(list.find("│▸"), std::string::npos) << list;
    t.press("{End}{Tab}"); // one pane at a time
    ASSERT_TRUE(t.hides("├ nodes ")) << t.text();
    EXPECT_NE(t.text().find("now "), std::string::npos) << t.text();
    t.press("{Tab}");
    ASSERT_TRUE(t.shows("├ nodes ")) << t.text();
    t.press("2");
    EXPECT_TRUE(t.shows("├ splits ")) << t.text();
}

TEST(Inspector, OnAScreenThatIsTooSmallKeysDoNothing) {
    Inspecting t(24, 80, [] { return inspect(); });
    const std::string before = t.text();
    t.resize(9, 24);
    ASSERT_TRUE(t.shows("too small: 40×10 needed")) << t.text();
    t.press("2<:view splits\n");
    t.resize(9, 39); // still too small: once all is told, the keys were read on a screen that is
    ASSERT_TRUE(t.shows("needed, q quits")) << t.text();
    t.resize(24, 80);
    EXPECT_TRUE(t.wait_until([&] { return t.text() == before; })) << t.text();
    t.resize(9, 39);
    ASSERT_TRUE(t.shows("too small")) << t.text();
    t.press("q");
    EXPECT_EQ(t.wait_for_exit(), 0);
}

TEST(Inspector, WithoutColourEverythingIsStillSaid) {
    Terminal::Options no_color;
    no_color.environment = {{"NO_COLOR", "1"}};
    Terminal plain(
        24, 80, [] { return inspect(); }, no_color);
    Terminal colored(24, 80, [] { return inspect(); });
    ASSERT_TRUE(plain.shows("q quit"));
    ASSERT_TRUE(colored.shows("q quit"));
    EXPECT_FALSE(plain.colored());
    EXPECT_EQ(plain.text(), colored.text());
    EXPECT_NE(plain.text().find("▸"), std::string::npos);

    InspectorOptions asked;
    asked.color = false;
    Inspecting also_plain(24, 80, [asked] { return inspect(asked); });
    EXPECT_FALSE(also_plain.colored());
}

TEST(Inspector, WithoutUnicodeItIsAscii) {
    Terminal::Options ascii;
    ascii.locale = "C";
    Inspecting t(
        24, 80, [] { return inspect(); }, ascii);
    for (const char c : t.text())
        EXPECT_GE(c, 0);
    EXPECT_NE(t.text().find("+ nodes "), std::string::npos) << t.text();
    EXPECT_NE(t.text().find("gpuv gpu^"), std::string::npos) << t.text();
}

TEST(Inspector, AnEightColourTerminalWillDo) {
    Terminal::Options old;
    old.term = "linux";
    Inspecting t(
        24, 80, [] { return inspect(); }, old);
    EXPECT_TRUE(t.colored());
}

TEST(Inspector, TheMouseSelectsScrollsAndPressesKeys) {
    Inspecting t(24, 80, [] { return inspect(); });
    t.click(8, 10);
    ASSERT_TRUE(t.wait_until([&] { return t.line(8).find("│▸") == 0; })) << t.text();
    t.wheel(10, 10, true);
    ASSERT_TRUE(t.wait_until([&] { return t.line(4).find("embd") == std::string::npos; })) << t.text();
    const auto [row, col] = t.find("? keys");
    t.click(row, col);
    ASSERT_TRUE(t.shows("keys that work here")) << t.text();
    t.click(23, 0);
    ASSERT_TRUE(t.hides("keys that work here"));
    const auto [strip_row, strip_col] = t.find("4 sources");
    t.click(strip_row, strip_col + 2);
    ASSERT_TRUE(t.shows("▸4 sources")) << t.text();
    const auto [tab_row, tab_col] = t.find("2splits");
    t.click(tab_row, tab_col);
    ASSERT_TRUE(t.shows("▸2splits")) << t.text();
    t.press("1");
    ASSERT_TRUE(t.shows("▸1nodes")) << t.text();
    t.click(6, 60);
    ASSERT_TRUE(t.wait_until([&] { return t.reverse_at(6, 60); })) << t.text();
}

TEST(Inspector, HelpShowsOnlyKeysThatWorkHere) {
    Inspecting t(70, 100, [] { return inspect(); });
    t.press("?");
    ASSERT_TRUE(t.shows("keys that work here"));
    EXPECT_NE(t.text().find("next step (one record)"), std::string::npos);
    EXPECT_EQ(t.text().find("hold the running program"), std::string::npos);
    EXPECT_EQ(t.text().find("next line that the search finds"), std::string::npos) << "nothing was searched yet";
    t.press("q");
    ASSERT_TRUE(t.hides("keys that work here"));
    t.press("/norm\n?");
    ASSERT_TRUE(t.shows("next line that the search finds")) << t.text();
}

TEST(Inspector, AKeyThatCanNotWorkSaysWhy) {
    Inspecting t(24, 80, [] { return inspect(); });
    t.press("c");
    EXPECT_TRUE(t.shows("no breakpoint is set: b sets one")) << t.text();
    t.press(".");
    EXPECT_TRUE(t.shows("nothing was searched yet")) << t.text();
    t.press("{Backspace}");
    EXPECT_TRUE(t.shows("no jump to go back from")) << t.text();
    t.press("z");
    EXPECT_TRUE(t.shows("z does nothing here")) << t.text();
    t.press(":frob\n");
    EXPECT_TRUE(t.shows("no command 'frob'")) << t.text();
    t.press(":step x\n");
    EXPECT_TRUE(t.shows("step needs a number, not 'x'")) << t.text();
    t.press("g99999999\n");
    EXPECT_TRUE(t.shows("there is no step 99,999,999")) << t.text();
}

TEST(Inspector, TheStoryLeadsToItsStepsAndTensors) {
    Inspecting t(50, 230, [] { return inspect(); });
    t.press(":tensor kq-3\n");
    ASSERT_TRUE(t.shows("┬ kq-3 "));
    ASSERT_TRUE(t.shows("story"));
    EXPECT_NE(t.text().find("leaves it unassigned: no buffer of its own, not an input, no source is a weight"), std::string::npos)
        << t.text();
    t.press("{Tab}{Home}{Down}{Down}{Enter}");
    EXPECT_TRUE(t.shows("┬ k_perm-3 ")) << t.text();
    t.press("{Backspace}");
    EXPECT_TRUE(t.shows("┬ kq-3 ")) << t.text();
}

TEST(Inspector, WhatIfShowsWhatOtherSettingsWouldChange) {
    Inspecting t(40, 160, [] { return inspect(); });
    t.press("w\n");
    ASSERT_TRUE(t.shows("come out the same")) << t.text();
    t.press("wrefuse=GPU0:ROPE\n");
    ASSERT_TRUE(t.shows(": what if refuse=GPU0:ROPE ")) << t.text();
    EXPECT_NE(t.text().find("q_rope-2 … q_perm-3"), std::string::npos) << "alike ones of both layers: " << t.text();
    t.press("/name~q_rope-3\n{Enter}"); // the first of the row
    ASSERT_TRUE(t.shows("┬ q_rope-2 ")) << t.text();
    EXPECT_NE(t.text().find("▸1 nodes"), std::string::npos) << t.text();
    t.press("wcolour=red\n"); // instead of the settings before
    EXPECT_TRUE(t.shows("│ colour=red: there is no 'colour'")) << t.text();
}

TEST(Inspector, AWaitOpensTheSplitThatItIsOf) {
    const auto with_a_wait = [] {
        auto store = std::make_shared<LiveStore>();
        test::MadeRun(4).record(*store, 1);
        record::Wait wait;
        wait.split = 2;
        wait.start_ns = 1'000'000'000;
        wait.end_ns = wait.start_ns + 10;
        store->add(wait);
        return run_inspector(store, {});
    };
    Inspecting t(24, 100, with_a_wait);
    t.press(":last-step\n6/kind=wait\n");
    ASSERT_TRUE(t.shows("┬ wait")) << t.text();
    t.press("{Enter}");
    ASSERT_TRUE(t.shows("├ splits ")) << t.text();
    EXPECT_NE(t.text().find("┬ split 2 "), std::string::npos) << t.text();
    t.press("6&kind=wait\n");
    ASSERT_TRUE(t.shows("match kind=wait")) << t.text();
    t.press("{Enter}");
    ASSERT_TRUE(t.shows("├ splits ")) << t.text();
    EXPECT_TRUE(t.shows("split 2 · the filter hides it: Esc shows all")) << t.text();
}

TEST(Inspector, ColumnsOrderTheList) {
    Inspecting t(24, 100, [] { return inspect(); });
    t.press("5{Home}");
    ASSERT_TRUE(t.shows("├ memory "));
    const auto [row, col] = t.find("size");
    t.click(row, col + 1);
    ASSERT_TRUE(t.shows("ordered by size")) << t.text();
    t.press("{Home}");
    EXPECT_TRUE(t.wait_until([&] { return test::line_with(t, "│▸ logits", " 256 KiB") != ""; })) << t.text();
}

TEST(Inspector, TheListGrowsAndShrinksFromWhatItIs) {
    for (const int cols : {64, 80, 100, 300}) {
        Terminal t(24, cols, [] { return inspect(); });
        ASSERT_TRUE(t.shows("┬")) << t.text();
        const int before = t.find("┬").second;
        t.press("-");
        ASSERT_TRUE(t.shows("% of the screen")) << t.text();
        const int narrower = t.find("┬").second;
        EXPECT_LT(narrower, before) << cols;
        t.press(":mark a\n");
        ASSERT_TRUE(t.shows("comes back here")) << t.text();
        t.press("+");
        ASSERT_TRUE(t.shows("% of the screen")) << t.text();
        EXPECT_GT(t.find("┬").second, narrower) << cols;
    }
}

TEST(Inspector, AnEmptyTraceIsNoReasonToFall) {
    Terminal t(24, 80, [] { return run_inspector(std::make_shared<LiveStore>(), {}); });
    ASSERT_TRUE(t.shows("nothing is recorded yet")) << t.text();
    t.press("npNPsS}{][tTfF<>.,23456791{Enter}{Tab}{Enter}{End}{Home}g0\n:eval 0\n:pass 1\n:tensor x\n/x\n&x\n{Esc}{Esc}o?q");
    t.press(":eval 0\n");
    EXPECT_TRUE(t.shows("nothing is recorded yet")) << t.text();
    t.press("q");
    EXPECT_EQ(t.wait_for_exit(), 0);
}

TEST(Inspector, KeysTypedFasterThanFramesMeetTheRowsOfTheirMoment) {
    Inspecting t(24, 100, [] { return inspect(); });
    // Each leaves the list of a later step, then asks something of a line that is no longer there.
    for (const char* view : {"1", "2", "3", "4", "5", "6", "7", "8", "9"})
        t.press(std::string(view) + ">{End}<{Enter}>{End}<{Tab}{Enter}{Tab}>{End}<o.{Up}{PgDn}>{End}<F");
    t.press(">w\n{Enter}8{Enter}{End}{Enter}1");
    t.press(":step 77\n");
    ASSERT_TRUE(t.shows("step 77/")) << t.text();
}

TEST(Inspector, APlanThatFailedSaysSo) {
    Terminal t(24, 100, [] {
        auto store = std::make_shared<LiveStore>();
        test::record_failing_plan(*store);
        return run_inspector(store, {});
    });
    ASSERT_TRUE(t.shows("PLAN FAILED")) << t.text();
    EXPECT_NE(t.text().find("failed"), std::string::npos) << t.text();
    EXPECT_NE(t.text().find("stuck"), std::string::npos) << t.text();
}

TEST(Inspector, WithoutATerminalItSaysWhatToDo) {
    Terminal dumb(24, 100, [] { return inspect(); }, {"dumb", "C.UTF-8", {}});
    EXPECT_EQ(dumb.wait_for_exit(), 2);
    EXPECT_NE(dumb.text().find("the terminal 'dumb' can't move its cursor; `schedscope show TRACE`"), std::string::npos)
        << dumb.text();
    Terminal unknown(24, 100, [] { return inspect(); }, {"no-such-terminal", "C.UTF-8", {}});
    EXPECT_EQ(unknown.wait_for_exit(), 2);
    EXPECT_NE(unknown.text().find("is not known here"), std::string::npos) << unknown.text();
    Terminal piped(24, 100, [] {
        int pipe_ends[2];
        if (pipe(pipe_ends) != 0)
            return 99;
        dup2(pipe_ends[1], STDOUT_FILENO);
        return inspect();
    });
    EXPECT_EQ(piped.wait_for_exit(), 2);
    EXPECT_NE(piped.text().find("standard output is not a terminal"), std::string::npos) << piped.text();
}

TEST(LiveInspector, KeysStepTheProgram) {
    Terminal t(24, 100, test::inspect_made_live);
    ASSERT_TRUE(t.shows("HELD")) << t.text();
    ASSERT_TRUE(t.shows("step 0/0")) << t.text();
    t.press("n");
    ASSERT_TRUE(t.shows("step 1/1")) << t.text();
    t.press("N");
    ASSERT_TRUE(t.shows("─ pass 1 place ─")) << t.text();
    ASSERT_TRUE(t.shows("pass 1 (place) ends: ")) << t.text();
    t.press("p");
    ASSERT_TRUE(t.shows("─ in pass 1 place ─")) << t.text();
    t.press("n");
    ASSERT_TRUE(t.shows("─ pass 1 place ─")) << t.text();
    t.press("]");
    ASSERT_TRUE(t.shows("eval 1 (0…1) decode")) << t.text();
    ASSERT_TRUE(t.shows("HELD")) << t.text();
    t.press("{Ctrl-C}");
    ASSERT_TRUE(t.shows("the program is held already")) << t.text();
    t.press("c");
    ASSERT_TRUE(t.shows("ENDED")) << t.text();
    ASSERT_TRUE(t.shows("eval 2 (0…2) decode")) << t.text();
    t.press("{Ctrl-C}"); // pressed as the run ended: what it recorded is not lost
    ASSERT_TRUE(t.shows("the program has ended: there is nothing to interrupt; q quits")) << t.text();
    t.press("n");
    ASSERT_TRUE(t.shows("the program has ended")) << t.text();
    t.press("<");
    ASSERT_TRUE(t.shows("step 0/")) << t.text();
    t.press("q");
    EXPECT_EQ(t.wait_for_exit(), 0);
    EXPECT_TRUE(t.is_cooked());
}

TEST(LiveInspector, AStoryWithinAPlanTellsWhereItGoesAndWhatWouldPutItElsewhere) {
    Terminal t(40, 110, test::inspect_made_live);
    ASSERT_TRUE(t.shows("HELD")) << t.text();
    t.press("N");
    ASSERT_TRUE(t.shows("pass 1 (place) ends: ")) << t.text();
    t.press(":tensor kq_soft_max-0\ne{End}"); // that pass 2 gives to the CPU
    EXPECT_TRUE(t.shows("otherwise     the plan is not complete here: it goes on to CPU")) << t.text();
    EXPECT_TRUE(t.shows("otherwise     no setting: GPU0 does not run it: type, the mask is not F16")) << t.text();
    t.press("Q");
    EXPECT_EQ(t.wait_for_exit(), 0);
}

TEST(LiveInspector, ItIsHeldWhenInterruptedAsSoonAsItWasLetGo) {
    Terminal t(24, 100, test::inspect_made_live);
    ASSERT_TRUE(t.shows("HELD")) << t.text();
    for (const char* both : {"c ", "n ", "c "}) {
        t.press(both);
        ASSERT_TRUE(t.wait_until([&] {
            return t.find("step 0/").first < 0 && t.find("RUNNING").first < 0 &&
                   (t.find("HELD").first >= 0 || t.find("ENDED").first >= 0);
        })) << both
            << t.text();
    }
    t.press("Q");
    EXPECT_EQ(t.wait_for_exit(), 0);
}

TEST(LiveInspector, FromWhatLiesBehindItRunsOnToTheBreakpoint) {
    Terminal t(24, 100, test::inspect_made_live);
    ASSERT_TRUE(t.shows("HELD")) << t.text();
    t.press("N");
    ASSERT_TRUE(t.shows("─ pass 1 place ─")) << t.text();
    t.press("p");
    ASSERT_TRUE(t.shows("─ in pass 1 place ─")) << t.text();
    t.press("bkind=execute name=kq-1 eval=1\n");
    ASSERT_TRUE(t.shows("breakpoint on kind=execute")) << t.text();
    t.press("c");
    ASSERT_TRUE(t.shows("breakpoint: ")) << t.text();
    EXPECT_NE(t.text().find("eval 1 (0…1) decode"), std::string::npos) << t.text();
    t.press("Q");
    EXPECT_EQ(t.wait_for_exit(), 0);
}

TEST(LiveInspector, TheProgramStopsAtTheBreakpoint) {
    Terminal t(24, 100, test::inspect_made_live);
    ASSERT_TRUE(t.shows("HELD")) << t.text();
    t.press("bkind=execute name=kq-1 eval=1\n");
    ASSERT_TRUE(t.shows("breakpoint on kind=execute")) << t.text();
    t.press("c");
    ASSERT_TRUE(t.shows("breakpoint: ")) << t.text();
    EXPECT_NE(t.text().find("eval 1 (0…1) decode"), std::string::npos) << t.text();
    EXPECT_NE(t.text().find("┬ kq-1 "), std::string::npos) << t.text();
    EXPECT_NE(t.text().find("HELD"), std::string::npos) << t.text();
    t.press("Q");
    EXPECT_EQ(t.wait_for_exit(), 0);
}

} // namespace
} // namespace schedscope
