// `inspect -- PROGRAM`: released builds of llama.cpp, as users have them, looked at while they run, and held.
#include "tests/inspector/cli/harness/files.h"
#include "tests/inspector/cli/harness/program.h"
#include "tests/support/ggml/released.h"
#include "tests/support/paths.h"
#include "tests/support/terminal.h"
#include "traces/history/accounts/time.h"
#include "traces/history/history.h"
#include "traces/store/reading/reader.h"

#include <algorithm>
#include <chrono>
#include <csignal>
#include <ctime>
#include <fstream>
#include <gmock/gmock.h>
#include <sstream>
#include <sys/prctl.h>
#include <sys/wait.h>

namespace schedscope::test {
namespace {

using ::testing::HasSubstr;

const std::string tokens = "432 383 286 261 376 298 315 421"; // as any llama of these weights says

std::string content(const std::string& path) {
    std::ostringstream text;
    text << std::ifstream(path).rdbuf();
    return text.str();
}

/// Waits for what no screen shows; a deadline only bounds a failure.
bool comes(const std::function<bool()>& what) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    while (!what() && std::chrono::steady_clock::now() < end) {
        breathe();
    }
    return what();
}

/// The oldest and the newest.
std::vector<Released> two_builds() {
    std::vector<Released> all = released_builds();
    return all.size() < 2 ? all : std::vector<Released>{all.front(), all.back()};
}
std::string version_of(const ::testing::TestParamInfo<Released>& info) { return as_test_name(info.param.version); }

class SteppedProgram : public ::testing::TestWithParam<Released> {
protected:
    std::vector<std::string> inspect(const std::vector<std::string>& more = {}) const {
        std::vector<std::string> options = {"--ticks", ticks, "--result", result};
        options.insert(options.end(), more.begin(), more.end());
        const std::vector<std::string> command = drive(GetParam(), paths::shared("models/stories260K-f32.gguf"), options);
        std::vector<std::string> arguments = {program_path(), "inspect", "-o", trace, "--"};
        arguments.insert(arguments.end(), command.begin(), command.end());
        return arguments;
    }
    int64_t n_ticks() const {
        const std::string text = content(ticks);
        return std::count(text.begin(), text.end(), '.');
    }
    static bool has_ended(Terminal& t) { return t.line(0).find("ENDED") != std::string::npos; }
    /// By `]`: it is held in this evaluation, or has ended before it.
    static bool goes_on_to(Terminal& t, EvaluationId evaluation) {
        const std::string said = "eval " + std::to_string(evaluation) + " ";
        t.press("]");
        return t.wait_until([&] {
            const std::string line = t.line(0);
            return has_ended(t) || (line.find("HELD") != std::string::npos && line.find(said) != std::string::npos);
        });
    }
    int64_t n_tokens() const {
        const std::string text = content(ticks);
        return std::count(text.begin(), text.end(), '|');
    }

    const Folder folder;
    const std::string trace = folder / "x.trace", ticks = folder / "ticks", result = folder / "result";
};
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(SteppedProgram);
INSTANTIATE_TEST_SUITE_P(Of, SteppedProgram, ::testing::ValuesIn(two_builds()), version_of);

TEST_P(SteppedProgram, IsHeldAtEachSplitAndSaysTheSame) {
    NEEDS_SHARED();
    Terminal t(30, 160, inspect());
    ASSERT_TRUE(t.shows("step 0/0")) << t.text();
    int64_t n_held = 0, n_ran = 0;
    bool ended = false;
    while (!ended && !t.ended()) {
        const std::string before = t.line(0);
        t.press("}");
        ASSERT_TRUE(t.wait_until([&] {
            ended = t.text().find("the program has ended") != std::string::npos;
            return ended || (t.line(0) != before && t.line(0).find("HELD") != std::string::npos);
        })) << t.text();
        n_held += ended ? 0 : 1;
        n_ran += !ended && t.text().find("split 0 ran") != std::string::npos ? 1 : 0;
        if (!ended) { // it is held before the next one, and no further
            ASSERT_LE(n_tokens(), n_ran) << t.text();
        }
    }
    t.press("q");
    EXPECT_EQ(t.wait_for_exit(), 0) << t.text();
    EXPECT_THAT(t.text(), HasSubstr(tokens));
    History history(std::make_shared<TraceReader>(trace));
    int64_t n_moments = 0;
    for (Step step = history.next(0, History::Unit::split); step != no_step; step = history.next(step, History::Unit::split)) {
        ++n_moments;
    }
    EXPECT_GT(n_moments, 8); // at least each run of the model
    EXPECT_EQ(n_held, n_moments);
    const auto tells_of_hold = [&](EvaluationId id) {
        const std::vector<accounts::TimeRow> rows = accounts::time(history, history.plan(id), accounts::TimeBy::device).rows;
        return std::any_of(rows.begin(), rows.end(),
                           [](const accounts::TimeRow& row) { return row.what == "while the run was held" && row.ns > 0; });
    };
    EXPECT_TRUE(tells_of_hold(history.n_evaluations() - 1));
}

TEST_P(SteppedProgram, TicksOnWhileASplitIsHeld) {
    NEEDS_SHARED();
    Terminal t(30, 160, inspect());
    ASSERT_TRUE(t.shows("step 0/0")) << t.text();
    t.press(":break kind=split_run\n");
    ASSERT_TRUE(t.shows("breakpoint on")) << t.text();
    t.press("c");
    ASSERT_TRUE(t.shows("breakpoint: ")) << t.text();
    const std::string held_at = t.line(0);
    const int64_t before = n_ticks();
    ASSERT_TRUE(comes([&] { return n_ticks() >= before + 20; })) << n_ticks();
    EXPECT_TRUE(t.settles());
    EXPECT_EQ(t.line(0), held_at);
    EXPECT_LE(n_tokens(), 1);
    t.press(":unbreak\n");
    ASSERT_TRUE(t.shows("no breakpoint is left")) << t.text();
    t.press("c");
    ASSERT_TRUE(t.shows("the program has ended")) << t.text();
    t.press("q");
    EXPECT_EQ(t.wait_for_exit(), 0) << t.text();
    EXPECT_THAT(t.text(), HasSubstr(tokens));
}

TEST_P(SteppedProgram, IsHeldBeforeWhatASplitReadsIsCopied) {
    NEEDS_SHARED();
    if (!GetParam().vulkan) {
        GTEST_SKIP() << "its Vulkan build is not here";
    }
    setenv("GGML_VK_VISIBLE_DEVICES", "0", 1); // accepts a software driver
    Terminal t(30, 160, inspect({"--gpu", "vulkan", "--layers", "3"}));
    // An old build compiles all its shaders first.
    ASSERT_TRUE(comes([&] { return t.shows("step 0/0"); })) << t.text();
    t.press(":break kind=split_run\n");
    ASSERT_TRUE(t.shows("breakpoint on")) << t.text();
    t.press("c");
    ASSERT_TRUE(comes([&] { return t.shows("breakpoint: split 0 ran"); })) << t.text();
    timespec held = {};
    clock_gettime(CLOCK_MONOTONIC, &held);
    t.press(":unbreak\n");
    ASSERT_TRUE(t.shows("no breakpoint is left")) << t.text();
    t.press("c");
    ASSERT_TRUE(comes([&] { return t.shows("the program has ended"); })) << t.text();
    t.press("q");
    EXPECT_EQ(t.wait_for_exit(), 0) << t.text();
    const auto source = std::make_shared<TraceReader>(trace);
    if (source->session().backends.size() < 2) {
        GTEST_SKIP() << "there is no Vulkan device that it takes";
    }
    EvaluationId first = -1;
    int n_copies = 0;
    source->for_each(0, source->n_steps(), [&](const Record& record) {
        const auto* const moved = std::get_if<record::Transfer>(&record.fact);
        first = first < 0 && std::holds_alternative<record::SplitRun>(record.fact) ? record.evaluation : first;
        if (moved != nullptr && record.evaluation == first && moved->split == 1) {
            ++n_copies;
            EXPECT_GE(moved->start_ns, held.tv_sec * 1'000'000'000 + held.tv_nsec);
        }
    });
    EXPECT_GT(n_copies, 0);
}

TEST_P(SteppedProgram, IsHeldBehindEachWatchedNode) {
    NEEDS_SHARED();
    std::vector<std::string> arguments = inspect();
    arguments.insert(arguments.begin() + 2, {"--watch", "name=ffn_out-1", "--watch", "name=ffn_out-3"});
    Terminal t(30, 160, arguments);
    ASSERT_TRUE(t.shows("step 0/0")) << t.text();
    t.press(":break kind=value\n");
    ASSERT_TRUE(t.shows("breakpoint on")) << t.text();
    for (int token = 0; token < 8; ++token) {
        for (const char* node : {"ffn_out-1", "ffn_out-3"}) {
            const std::string before = t.line(0);
            t.press("c");
            ASSERT_TRUE(t.wait_until([&] {
                return t.line(0) != before && t.line(0).find("HELD") != std::string::npos &&
                       t.text().find("breakpoint: " + std::string(node) + ": from ") != std::string::npos;
            })) << t.text();
            EXPECT_EQ(n_tokens(), token); // in the middle of the next one
        }
    }
    t.press("c");
    ASSERT_TRUE(t.shows("the program has ended")) << t.text();
    t.press("q");
    EXPECT_EQ(t.wait_for_exit(), 0) << t.text();
    EXPECT_THAT(t.text(), HasSubstr(tokens));
}

/// Of several breakpoints each holds it, also within a step that leads further.
TEST_P(SteppedProgram, IsHeldAtEachOfSeveralBreakpoints) {
    NEEDS_SHARED();
    Terminal t(30, 160, inspect());
    ASSERT_TRUE(t.shows("step 0/0")) << t.text();
    t.press(":break kind=pass_end pass=3\n");
    ASSERT_TRUE(t.shows("breakpoint on kind=pass_end")) << t.text();
    t.press(":break kind=plan_end\n");
    ASSERT_TRUE(t.shows("B lists all 2")) << t.text();
    t.press("]");
    ASSERT_TRUE(comes([&] { return t.shows("breakpoint 1 stopped the step: "); })) << t.text();
    EXPECT_EQ(n_tokens(), 0);
    t.press("c");
    ASSERT_TRUE(comes([&] { return t.shows("breakpoint 2: "); })) << t.text();
    t.press("B");
    ASSERT_TRUE(t.shows("1  enabled   met 1     kind=pass_end pass=3")) << t.text();
    EXPECT_TRUE(t.shows("2  enabled   met 1     kind=plan_end")) << t.text();
    t.press("\n"); // the first one is disabled
    ASSERT_TRUE(t.shows("1  disabled  met 1 ")) << t.text();
    t.press("{Esc}");
    ASSERT_TRUE(t.hides("disabled  met 1 ")) << t.text();
    const std::string before = t.line(0);
    t.press("c");
    ASSERT_TRUE(t.wait_until([&] {
        return t.line(0) != before && t.line(0).find("HELD") != std::string::npos &&
               t.text().find("breakpoint 2: ") != std::string::npos;
    })) << t.text();
    t.press("Q");
    EXPECT_EQ(t.wait_for_exit(), 128 + SIGTERM) << t.text();
}

/// Also at those that plan nothing, since they use a plan that is there.
TEST_P(SteppedProgram, IsHeldInEachEvaluation) {
    NEEDS_SHARED();
    Terminal t(30, 160, inspect());
    ASSERT_TRUE(t.shows("step 0/0")) << t.text();
    t.press("N");
    ASSERT_TRUE(comes([&] { return t.shows("─ pass 1 place "); })) << t.text();
    bool ended = false;
    EvaluationId evaluation = 0;
    while (!ended) {
        ++evaluation;
        ASSERT_TRUE(goes_on_to(t, evaluation)) << evaluation << '\n' << t.text();
        ended = has_ended(t);
    }
    t.press("q");
    EXPECT_EQ(t.wait_for_exit(), 0) << t.text();
    EXPECT_EQ(evaluation, History(std::make_shared<TraceReader>(trace)).n_evaluations());
}

TEST_P(SteppedProgram, IsSavedAsTheTraceThatItIs) {
    NEEDS_SHARED();
    const std::string saved = folder / "saved.trace";
    Terminal t(30, 160, inspect());
    ASSERT_TRUE(t.shows("step 0/0")) << t.text();
    t.press("c");
    ASSERT_TRUE(comes([&] { return t.shows("the program has ended"); })) << t.text();
    t.press(":save " + saved + "\n");
    ASSERT_TRUE(t.shows("are written; schedscope inspect opens it")) << t.text();
    t.press("q");
    EXPECT_EQ(t.wait_for_exit(), 0) << t.text();
    const Outcome recorded = run({"export", trace, "--jsonl", "-"});
    EXPECT_EQ(recorded.code, 0) << recorded.err;
    EXPECT_EQ(run({"export", saved, "--jsonl", "-"}).out, recorded.out);
}

TEST_P(SteppedProgram, IsSavedWithinAPlanAsOneThatHasNoEnd) {
    NEEDS_SHARED();
    const std::string saved = folder / "saved.trace";
    Terminal t(30, 160, inspect());
    ASSERT_TRUE(t.shows("step 0/0")) << t.text();
    t.press("N");
    ASSERT_TRUE(comes([&] { return t.shows("─ pass 1 place "); })) << t.text();
    t.press(":save " + saved + "\n");
    ASSERT_TRUE(t.shows("are written; schedscope inspect opens it")) << t.text();
    t.press("q");
    EXPECT_EQ(t.wait_for_exit(), 128 + SIGTERM) << t.text();
    const std::string shown = run({"show", saved}).out;
    EXPECT_THAT(shown, HasSubstr("1 evaluation, 0 planned, 1 in part; "));
    EXPECT_THAT(shown, HasSubstr("the plan ends after pass 1 (place): the recording stopped there\n"));
    EXPECT_THAT(shown, ::testing::Not(HasSubstr("0 tokens")));
    EXPECT_THAT(run({"show", saved, "--what", "tokens"}).out, HasSubstr("which tokens were sampled is unknown"));
}

TEST_P(SteppedProgram, IsMadeAgainButForThePlanThatItIsHeldIn) {
    NEEDS_SHARED();
    const std::string saved = folder / "saved.trace";
    Terminal t(30, 160, inspect());
    ASSERT_TRUE(t.shows("step 0/0")) << t.text();
    t.press("N");
    ASSERT_TRUE(t.shows("─ pass 1 place ")) << t.text();
    EvaluationId evaluation = 0;
    do { // to one that plans
        ASSERT_TRUE(goes_on_to(t, ++evaluation) && !has_ended(t)) << t.text();
    } while (t.line(0).find("─ pass 1 place ") == std::string::npos);
    t.press("wop-offload=off\n");
    EXPECT_TRUE(t.shows("what if op-offload=off")) << t.text();
    t.press(":save " + saved + "\n");
    ASSERT_TRUE(t.shows("are written; schedscope inspect opens it")) << t.text();
    t.press("Q");
    EXPECT_EQ(t.wait_for_exit(), 128 + SIGTERM) << t.text();
    const Outcome again = run({"replay", saved});
    EXPECT_EQ(again.code, 0) << again.err;
    EXPECT_THAT(again.out,
                HasSubstr("evaluation " + std::to_string(evaluation) + " is left out: the plan ends after pass 1 (place)"));
}

TEST_P(SteppedProgram, IsFollowedAsItRunsUntilItIsHeld) {
    NEEDS_SHARED();
    Terminal t(30, 160, inspect({"--tokens", "100000", "--context", "512"}));
    ASSERT_TRUE(t.shows("step 0/0")) << t.text();
    t.press("c");
    const auto runs_in = [&](int64_t evaluation) {
        const std::string line = t.line(0);
        const size_t at = line.find("eval ");
        return line.find("RUNNING") != std::string::npos && at != std::string::npos &&
               std::stoll(line.substr(at + 5)) > evaluation;
    };
    ASSERT_TRUE(t.wait_until([&] { return runs_in(20); })) << t.text();
    t.press(" ");
    ASSERT_TRUE(t.shows("interrupted, the program waits")) << t.text();
    const std::string held_at = t.line(0);
    t.press("p"); // what was recorded is walked while it waits
    ASSERT_TRUE(t.wait_until([&] { return t.line(0) != held_at; })) << t.text();
    const int64_t before = n_ticks();
    ASSERT_TRUE(comes([&] { return n_ticks() >= before + 20; }));
    const int64_t n_then = n_tokens();
    ASSERT_TRUE(comes([&] { return n_ticks() >= before + 60; }));
    EXPECT_LE(n_tokens(), n_then + 1) << "it waits in front of its next record: one may come of which all were written";
    t.press(">c");
    ASSERT_TRUE(comes([&] { return n_tokens() > n_then + 5; }));
    t.press("q");
    EXPECT_EQ(t.wait_for_exit(), 128 + SIGTERM);
    EXPECT_FALSE(exists(result));
}

TEST_P(SteppedProgram, GoesOnWhenTheInspectorIsKilledThatHoldsIt) {
    NEEDS_SHARED();
    Terminal t(30, 160, inspect());
    ASSERT_TRUE(t.shows("step 0/0")) << t.text();
    t.press("]");
    ASSERT_TRUE(t.hides("step 0/0")) << t.text();
    EXPECT_FALSE(exists(result));
    prctl(PR_SET_CHILD_SUBREAPER, 1); // the program's end is told to us once its own parent is gone
    t.send_signal(SIGKILL);
    EXPECT_EQ(t.wait_for_exit(), 256 + SIGKILL);
    for (int status = 0, ended = 0; (ended = waitpid(-1, &status, 0)) > 0;) { // however long that takes on a busy machine
        EXPECT_EQ(status, 0) << "process " << ended << ", after " << n_tokens() << " tokens";
    }
    EXPECT_EQ(content(result), tokens + "\n") << "after " << n_tokens() << " tokens";
}

TEST_P(SteppedProgram, LeavesWholePlansWhenTheInspectorIsKilledWithinOne) {
    NEEDS_SHARED();
    Terminal t(30, 160, inspect());
    ASSERT_TRUE(t.shows("step 0/0")) << t.text();
    t.press("]");
    ASSERT_TRUE(t.hides("step 0/0")) << t.text();
    for (int i = 0; i < 60; ++i) { // through records of the next plan
        const std::string before = t.line(0);
        t.press("n");
        ASSERT_TRUE(t.wait_until([&] { return t.line(0) != before; })) << t.text();
    }
    t.send_signal(SIGKILL);
    EXPECT_EQ(t.wait_for_exit(), 256 + SIGKILL);
    const Outcome exported = run({"export", trace, "--jsonl", "-"});
    EXPECT_EQ(exported.code, 0) << exported.err;
    EXPECT_EQ(count(exported.out, "\"plan_begin\""), count(exported.out, "\"plan_end\""));
    EXPECT_EQ(count(exported.out, "\"plan_begin\""), count(exported.out, "\"verdict\""));
}

TEST_P(SteppedProgram, EndsWithTheInspectorThatItsUserLeaves) {
    NEEDS_SHARED();
    Terminal t(30, 160, inspect());
    ASSERT_TRUE(t.shows("step 0/0")) << t.text();
    t.press("q");
    EXPECT_EQ(t.wait_for_exit(), 128 + SIGTERM) << t.text();
    EXPECT_FALSE(exists(result));
}

class InspectedProgram : public ::testing::Test {
protected:
    static std::vector<std::string> inspect(const std::string& script) {
        return {program_path(), "inspect", "--", "sh", "-c", script};
    }
};

TEST_F(InspectedProgram, LeavesItsLinesAndItsCodeWhereNothingIsToBeSeen) {
    Terminal t(24, 80, inspect("echo said; echo told >&2; exit 7"));
    EXPECT_EQ(t.wait_for_exit(), 7);
    EXPECT_THAT(t.text(), HasSubstr("said\ntold\n"));
    Terminal nothing(24, 80, inspect("exit 0"));
    EXPECT_EQ(nothing.wait_for_exit(), 4);
    EXPECT_THAT(nothing.text(), HasSubstr("nothing was recorded"));
}

TEST_F(InspectedProgram, WritesToAPageThatFollowsIt) {
    const Folder folder;
    const std::string go = folder / "go", end = folder / "end";
    Terminal t(24, 80,
               inspect("for i in $(seq 100); do echo line $i; done; while ! [ -e " + go +
                       " ]; do sleep 0.01; done; printf 'part\\r\\033[1mof\\033[0m it'; cat; tty; while ! [ -e " + end +
                       " ]; do sleep 0.01; done; exit 3"));
    ASSERT_TRUE(t.shows("nothing is planned yet")) << t.text();
    t.press(":output\n");
    ASSERT_TRUE(t.shows("line 100")) << t.text();
    write_bytes(go, "");
    ASSERT_TRUE(t.shows("of itnot a tty")) << t.text(); // its standard input is empty, and no terminal
    t.press("{Home}");
    ASSERT_TRUE(t.shows("line 1 ") || t.shows("line 1\n")) << t.text();
    write_bytes(end, "");
    ASSERT_TRUE(t.shows("the program has ended: exit code 3")) << t.text();
    t.press("Q");
    EXPECT_EQ(t.wait_for_exit(), 3);
}

TEST_F(InspectedProgram, IsRefusedWhereItIsNotWhatIsMeant) {
    struct Wrong {
        std::vector<std::string> arguments;
        std::string told;
    };
    for (const Wrong& wrong :
         {Wrong{{"inspect", "a.trace", "b"}, "one trace; a program stands behind --"},
          {{"inspect", "-n", "5", "--", "true"},
           "belongs to a run of a model, and 'true' is a program to record, whose options stand behind its name"},
          {{"inspect", "--sync", "a.trace"}, "--sync: goes with -- PROGRAM"},
          {{"inspect", "--diff", "a.trace", "--", "true"}, "--diff goes with a trace"},
          {{"record", "-o", "t", "--when", "op=ADD kind=execute", "--", "true"},
           "--when op=ADD kind=execute: another program's kernels are not recorded one by one, only its splits: use "
           "kind=split_run"},
          {{"inspect"}, "name a trace, a model with -m, or a program behind --"},
          {{"inspect", "--", "true"}, "is not a terminal"}}) {
        const Outcome outcome = run(wrong.arguments);
        EXPECT_EQ(outcome.code, 2) << wrong.told;
        EXPECT_THAT(outcome.err, HasSubstr(wrong.told));
    }
}

} // namespace
} // namespace schedscope::test
