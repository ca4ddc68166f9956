// Several breakpoints: where steps and runs stop, the list of them, what is kept of them.
#include "tests/inspector/tui/harness/inspecting.h"
#include "tests/inspector/tui/harness/programs.h"
#include "tests/inspector/tui/harness/samples.h"
#include "tests/support/terminal.h"
#include "tests/support/traces/made_trace.h"

#include "inspector/tui/state/inspector_session.h"
#include "inspector/tui/state/saved_session.h"

#include <gtest/gtest.h>

namespace schedscope::tui {
namespace {

namespace test = schedscope::test;
using test::inspect_made;
using test::inspect_made_live;
using test::Inspecting;
using Unit = InspectorSession::Unit;

class SeveralBreakpoints : public ::testing::Test {
protected:
    SeveralBreakpoints() {
        session.change_breakpoints([](Breakpoints& breakpoints) {
            breakpoints.add(Query::parse("kind=pass_end pass=3"));
            breakpoints.add(Query::parse("kind=token"));
        });
        session.go(0);
    }
    std::string scan(bool forward) {
        session.start_scan(forward);
        while (true) {
            if (auto over = session.scan_slice()) {
                return *over;
            }
        }
    }
    int64_t n_met(int i) const { return *session.breakpoints()[i].n_met; }
    void enable(int i, bool enabled) {
        session.change_breakpoints([&](Breakpoints& breakpoints) { breakpoints.enable(i, enabled); });
    }

    std::shared_ptr<const RecordSource> source = schedscope::test::made_trace(4, 3);
    InspectorSession session{source, nullptr};
};

TEST_F(SeveralBreakpoints, AreEachStoppedAtAndCounted) {
    EXPECT_TRUE(scan(true).starts_with("breakpoint 1: pass 3 ")) << "the plan is made first";
    EXPECT_TRUE(scan(true).starts_with("breakpoint 2: "));
    EXPECT_TRUE(std::holds_alternative<record::NextToken>(session.record().fact));
    EXPECT_EQ(n_met(0), 1);
    EXPECT_EQ(n_met(1), 1);
    EXPECT_TRUE(scan(false).starts_with("breakpoint 1: "));
    EXPECT_EQ(n_met(0), 2);
}

TEST(BreakpointOnTheStatusLine, GivesWayToWhatIsTold) {
    Inspecting t(24, 80, inspect_made);
    t.press(":break kind=assign backend=GPU0 cause=1.wgt0 op=MUL_MAT\n");
    ASSERT_TRUE(t.shows("kind=assign")) << t.text();
    t.press(":sort zebra\n");
    EXPECT_TRUE(t.shows("no column 'zebra': there are #, id, op, name")) << t.text();
    EXPECT_TRUE(t.shows("break kind=")) << t.text();
    t.press("u");
    EXPECT_TRUE(t.hides("zebra")) << t.text();
}

TEST_F(SeveralBreakpoints, AreNotMetWhileTheyAreDisabled) {
    enable(0, false);
    EXPECT_TRUE(scan(true).starts_with("breakpoint 2: "));
    EXPECT_EQ(n_met(0), 0);
    enable(1, false);
    EXPECT_EQ(session.breakpoints().n_enabled(), 0);
}

TEST_F(SeveralBreakpoints, AreOnesOfDifferentTexts) {
    enable(1, false);
    session.change_breakpoints([](Breakpoints& breakpoints) { breakpoints.add(Query::parse("kind=token")); });
    EXPECT_EQ(session.breakpoints().size(), 2);
    EXPECT_EQ(session.breakpoints().n_enabled(), 2) << "what is set again is enabled";
}

TEST_F(SeveralBreakpoints, EndAStepThatLeadsBeyondThem) {
    EXPECT_TRUE(session.move(Unit::evaluation, true).starts_with("breakpoint 1 stopped the step: pass 3 "));
    const Step at_pass = session.step();
    EXPECT_EQ(session.state().evaluation, 0);
    EXPECT_TRUE(session.move(Unit::token, true).starts_with("breakpoint 2: ")) << "where the step leads";
    const Step at_token = session.step();
    EXPECT_TRUE(session.move(Unit::evaluation, true).starts_with("breakpoint 2: ")) << "of the next evaluation";
    session.go(at_token);
    EXPECT_TRUE(session.move(Unit::token, true).starts_with("breakpoint 2: "));
    session.go(at_pass - 1);
    EXPECT_TRUE(session.move(Unit::record, true).starts_with("breakpoint 1: pass 3 "));
    session.go(at_pass + 1);
    EXPECT_TRUE(session.move(Unit::pass, false).starts_with("breakpoint 1: pass 3 ")) << "also backward";
    EXPECT_FALSE(session.move(Unit::record, true).starts_with("breakpoint")) << "nothing is met there";
    EXPECT_EQ(session.step(), at_pass + 1);
}

TEST_F(SeveralBreakpoints, AreKeptWithTheSession) {
    SavedSession kept;
    kept.trace = "/x";
    kept.n_steps = 9;
    kept.breakpoints = {{"kind=token", true}, {"op=ADD", false}, {"name~\"a b\"", true}};
    SavedSession read;
    std::string note;
    ASSERT_TRUE(SavedSession::parse(kept.text(), "/x", 9, read, note)) << note;
    EXPECT_EQ(note, "");
    EXPECT_EQ(read.breakpoints, kept.breakpoints);
}

/// The same keys lead a recorded trace and a running program to the same steps, with the same breakpoints met.
TEST(Breakpoints, EndStepsOfARunningProgramAsThoseThroughATrace) {
    Inspecting recorded(24, 120, inspect_made), live(24, 120, inspect_made_live);
    ASSERT_TRUE(live.shows("HELD")) << live.text();
    recorded.press("<");
    for (test::Terminal* t : {static_cast<test::Terminal*>(&recorded), static_cast<test::Terminal*>(&live)}) {
        ASSERT_TRUE(t->shows("step 0/")) << t->text();
        t->press(":break kind=pass_end pass=2b\n");
        ASSERT_TRUE(t->shows("breakpoint on kind=pass_end pass=2b")) << t->text();
        t->press(":break kind=execute op=ROPE\n");
        ASSERT_TRUE(t->shows("B lists all 2")) << t->text();
    }
    const auto place_of = [](test::Terminal& t) {
        const std::string line = t.line(0);
        const size_t eval = line.find("eval "), pass = line.find("pass ");
        return line.substr(eval, 6) + line.substr(pass, line.find(" ─", pass) - pass);
    };
    const auto says = [](test::Terminal& t) {
        const std::string line = t.line(21);
        return line.substr(line.find("breakpoint"), std::string("breakpoint 1: kq_soft_max").size());
    };
    for (const auto& [keys, number] :
         {std::pair("]", "breakpoint 1 stopped the step: "), {"]", "breakpoint 2 stopped the step: "}, {"c", "breakpoint 2: "}}) {
        for (test::Terminal* t : {static_cast<test::Terminal*>(&recorded), static_cast<test::Terminal*>(&live)}) {
            const std::string before = t->line(0);
            t->press(keys);
            ASSERT_TRUE(t->wait_until([&] { return t->line(0) != before && t->line(0).find("RUNNING") == std::string::npos; }));
            ASSERT_TRUE(t->shows(number)) << t->text();
        }
        EXPECT_EQ(place_of(recorded), place_of(live));
        EXPECT_EQ(says(recorded), says(live));
    }
    live.press("B");
    EXPECT_TRUE(live.shows("1  enabled   met 1     kind=pass_end pass=2b")) << live.text();
    EXPECT_TRUE(live.shows("2  enabled   met 2     kind=execute op=ROPE")) << live.text();
    live.press("Q");
    EXPECT_EQ(live.wait_for_exit(), 0);
}

/// A program that is watched from outside: only its splits are records.
TEST(Breakpoints, AreRefusedOnKernelsOfAnotherProgram) {
    Inspecting t(24, 140, [] { return test::inspect_sample("llama-cpp"); });
    t.press(":break kind=execute op=ADD\n");
    ASSERT_TRUE(t.shows("no breakpoint on kind=execute op=ADD: another program's kernels are not recorded one by one, only its "
                        "splits: use kind=split_run"))
        << t.text();
    t.press(":break kind=execute|split_run\n");
    ASSERT_TRUE(t.shows("breakpoint on kind=execute|split_run: ")) << t.text();
}

TEST(Breakpoints, AreListedToBeDisabledAndDeleted) {
    Inspecting t(24, 80, inspect_made);
    t.press("B");
    ASSERT_TRUE(t.shows("no breakpoint is set: b sets one")) << t.text();
    t.press("bkind=token\nbop=ADD\nbop=ROPE\n:breakpoints\n");
    ASSERT_TRUE(t.shows("3  enabled   met 0     op=ROPE")) << t.text();
    EXPECT_TRUE(t.shows("Enter enables or disables  Esc closes")) << t.text();
    EXPECT_EQ(t.find("Enter open").first, -1) << t.text();
    t.press("{Down}\n");
    ASSERT_TRUE(t.shows("2  disabled  met 0     op=ADD")) << t.text();
    t.press(" ");
    ASSERT_TRUE(t.shows("2  enabled   met 0     op=ADD")) << t.text();
    const auto [row, col] = t.find("3  enabled");
    t.click(row, col); // selects it; again: what Enter does
    t.click(row, col);
    ASSERT_TRUE(t.shows("3  disabled  met 0     op=ROPE")) << t.text();
    EXPECT_TRUE(t.shows("2 of 3 breakpoints")) << t.text();
    t.press("{Home}x");
    ASSERT_TRUE(t.shows("no breakpoint on kind=token any longer")) << t.text();
    ASSERT_TRUE(t.shows("1  enabled   met 0     op=ADD")) << t.text();
    const auto [keys_row, at] = t.find("x delete");
    ASSERT_EQ(keys_row, 22) << t.text();
    t.click(keys_row, at);
    ASSERT_TRUE(t.shows("1  disabled  met 0     op=ROPE")) << t.text();
    t.press("{Esc}c");
    ASSERT_TRUE(t.shows("no breakpoint is enabled: B lists them")) << t.text();
    t.press("Bx");
    ASSERT_TRUE(t.hides(" breakpoints ")) << "there is none left: " << t.text();
}

TEST(Breakpoints, AreTakenAwayByTheirNumbers) {
    Inspecting t(24, 80, inspect_made);
    t.press(":break kind=token\n:break op=ADD\n:unbreak 3\n");
    ASSERT_TRUE(t.shows("there is no breakpoint 3: they go from 1 to 2")) << t.text();
    t.press(":unbreak 1\n");
    ASSERT_TRUE(t.shows("no breakpoint on kind=token any longer")) << t.text();
    EXPECT_TRUE(t.shows("break op=ADD")) << t.text();
    t.press(":break\n");
    ASSERT_TRUE(t.shows("1  enabled   met 0     op=ADD")) << t.text();
    t.press("{Esc}:unbreak\n");
    ASSERT_TRUE(t.shows("no breakpoint is left")) << t.text();
    t.press(":break frob=1\n");
    EXPECT_TRUE(t.shows("query: 'frob' is no field")) << t.text();
}

} // namespace
} // namespace schedscope::tui
