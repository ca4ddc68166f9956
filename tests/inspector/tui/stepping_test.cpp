// Each stepping key, on a recorded sample and on a program that runs: where it goes, and what it says has changed.
#include "tests/inspector/tui/harness/inspecting.h"
#include "tests/inspector/tui/harness/samples.h"
#include "tests/support/traces/made_trace.h"
#include "traces/history/history.h"
#include "traces/history/live_gate.h"
#include "traces/history/words/words.h"

#include <gtest/gtest.h>

#include <csignal>
#include <cstdlib>
#include <regex>
#include <thread>

#include <sys/eventfd.h>
#include <unistd.h>

namespace schedscope {
namespace {

using test::inspect_sample;
using test::Inspecting;
using test::line_with;
using test::sample;
using test::Terminal;

constexpr const char* name = "partial-offload";

/// Steps of the records that fulfil a condition, looked for one by one.
template <typename F> std::vector<Step> steps_where(const RecordSource& source, F&& holds) {
    std::vector<Step> steps;
    source.for_each(0, source.n_steps(), [&](const Record& record) {
        if (holds(record)) {
            steps.push_back(record.step);
        }
    });
    return steps;
}
template <typename T> std::vector<Step> steps_of(const RecordSource& source) {
    return steps_where(source, [](const Record& r) { return std::holds_alternative<T>(r.fact); });
}
Step first_behind(const std::vector<Step>& steps, Step from) { return *std::upper_bound(steps.begin(), steps.end(), from); }
Step last_before(const std::vector<Step>& steps, Step from) {
    return *std::prev(std::lower_bound(steps.begin(), steps.end(), from));
}

class Stepping : public ::testing::Test {
protected:
    std::shared_ptr<const RecordSource> source = sample(name);
    Terminal t{30, 130, [] { return inspect_sample(name); }};

    bool at(Step step) { return t.shows("step " + words::count(step) + "/" + words::count(source->n_steps() - 1)); }
    void go(Step step) {
        t.press(":step " + std::to_string(step) + "\n");
        ASSERT_TRUE(at(step)) << t.text();
    }
    /// A step in the middle of the second plan, which an evaluation lies before and behind.
    Step middle() {
        const EvaluationSpan span = source->evaluation(1);
        return span.first + (span.end - span.first) / 3;
    }
    void SetUp() override {
        ASSERT_TRUE(t.shows("q quit"));
        go(middle());
    }
};

TEST_F(Stepping, ByRecord) {
    t.press("n");
    EXPECT_TRUE(at(middle() + 1)) << t.text();
    t.press("p");
    EXPECT_TRUE(at(middle())) << t.text();
}

TEST_F(Stepping, BySweepAndPass) {
    const std::vector<Step> sweeps = steps_of<record::PassEnd>(*source);
    const std::vector<Step> passes = steps_where(*source, [](const Record& r) {
        const auto* f = std::get_if<record::PassEnd>(&r.fact);
        const bool last_of_it = f && (f->pass < Pass::gpu_down || f->pass >= Pass::rest_up);
        return last_of_it;
    });
    t.press("s");
    EXPECT_TRUE(at(first_behind(sweeps, middle()))) << t.text();
    t.press("S");
    EXPECT_TRUE(at(last_before(sweeps, first_behind(sweeps, middle())))) << t.text();
    go(middle());
    t.press("N");
    EXPECT_TRUE(at(first_behind(passes, middle()))) << t.text();
    t.press("P");
    EXPECT_TRUE(at(last_before(passes, first_behind(passes, middle())))) << t.text();
}

TEST_F(Stepping, ByEvaluationAndToken) {
    const std::vector<Step> tokens = steps_of<record::NextToken>(*source);
    t.press("]");
    EXPECT_TRUE(t.shows("eval 2 (0…3) decode")) << t.text();
    t.press("[[");
    EXPECT_TRUE(t.shows("eval 0 (0…3) prefill")) << t.text();
    go(middle());
    t.press("t");
    EXPECT_TRUE(at(first_behind(tokens, middle()))) << t.text();
    EXPECT_TRUE(t.shows(std::string(source->text(*std::get<record::NextToken>(History(source).record(tokens[1]).fact).text))))
        << t.text();
    t.press("T");
    EXPECT_TRUE(at(tokens[0])) << t.text();
}

TEST_F(Stepping, ByEvaluationAnEndLeadsToAnEnd) {
    go(source->evaluation(1).end - 1);
    t.press("]");
    EXPECT_TRUE(at(source->evaluation(2).end - 1)) << t.text();
    t.press("]");
    EXPECT_TRUE(at(source->evaluation(3).end - 1)) << t.text();
    t.press("]");
    EXPECT_TRUE(t.shows("no evaluation comes after this one")) << t.text();
    t.press("[[[");
    EXPECT_TRUE(at(source->evaluation(0).end - 1)) << t.text();
    t.press("[");
    EXPECT_TRUE(t.shows("no evaluation comes before this one")) << t.text();
}

TEST_F(Stepping, ByEvaluationAPassLeadsToThatPassAndATensorToThatTensor) {
    const auto of_pass = [&](EvaluationId e, Pass pass) {
        return steps_where(*source, [&](const Record& r) {
            const auto* f = std::get_if<record::PassEnd>(&r.fact);
            return f && r.evaluation == e && f->pass == pass;
        });
    };
    go(of_pass(1, Pass::gpu_up).at(0));
    t.press("[");
    EXPECT_TRUE(at(of_pass(0, Pass::gpu_up).at(0))) << t.text();
    EXPECT_TRUE(t.shows("evaluation 0, the same place: ")) << t.text();

    History history(source);
    const auto assigned = [&](EvaluationId e, const std::string& name) {
        return steps_where(*source, [&](const Record& r) {
            const auto* f = std::get_if<record::Assign>(&r.fact);
            return f && r.evaluation == e && f->pass == Pass::gpu_down && history.tensor_name_at(r.step, f->tensor) == name;
        });
    };
    ASSERT_EQ(assigned(1, "l_out-2").size(), 1U);
    ASSERT_EQ(assigned(0, "l_out-2").size(), 1U);
    go(assigned(1, "l_out-2").at(0));
    t.press("[");
    EXPECT_TRUE(at(assigned(0, "l_out-2").at(0))) << t.text();
    EXPECT_TRUE(t.shows("┬ l_out-2 ")) << t.text();

    // Evaluation 2 runs the plan of evaluation 1: what comes next is that it runs. The way back leads to where it began.
    go(assigned(1, "l_out-2").at(0));
    t.press("]");
    EXPECT_TRUE(at(of_pass(2, Pass::execute).at(0))) << t.text();
    EXPECT_TRUE(t.shows("evaluation 2, next there: ")) << t.text();
    t.press("]");
    EXPECT_TRUE(at(of_pass(3, Pass::execute).at(0))) << t.text();
    t.press("[[");
    EXPECT_TRUE(at(assigned(1, "l_out-2").at(0))) << t.text();
    t.press(":eval 0\n");
    EXPECT_TRUE(at(assigned(0, "l_out-2").at(0))) << t.text();
}

TEST_F(Stepping, ByEvaluationThereIsSomethingToSee) {
    t.press("<");
    ASSERT_TRUE(t.shows("step 0/")) << t.text();
    EXPECT_TRUE(t.shows("┬ attn_out-0 ")) << t.text();
    t.press("]");
    ASSERT_TRUE(t.shows("eval 1 (0…3)")) << t.text();
    EXPECT_TRUE(t.shows("┬ attn_out-0 ")) << t.text();
    t.press("]");
    ASSERT_TRUE(t.shows("eval 2 (0…3)")) << t.text();
    EXPECT_TRUE(t.shows("┬ attn_out-0 ")) << t.text();
    t.press("[n["); // after a step of another kind the way begins again
    ASSERT_TRUE(t.shows("eval 0 (0…3)")) << t.text();
    EXPECT_TRUE(t.shows("┬ attn_out-0 ")) << t.text();
}

TEST(Opened, StepsAndExplains) {
    Inspecting t(30, 130, [] { return inspect_sample(name); });
    t.press("n");
    ASSERT_TRUE(t.shows("eval 1 (0…3)")) << t.text();
    EXPECT_TRUE(t.shows("┬ embd ")) << t.text();
    t.press("e");
    EXPECT_TRUE(t.shows("the story of embd ")) << t.text();
}

TEST_F(Stepping, BySplit) {
    const std::vector<Step> splits = steps_where(*source, [](const Record& r) {
        const auto* f = std::get_if<record::SplitEnd>(&r.fact);
        return f && r.evaluation == 1;
    });
    ASSERT_EQ(splits.size(), 2U);
    t.press(":step " + std::to_string(splits[0] - 1) + "\n}");
    EXPECT_TRUE(at(splits[0])) << t.text();
    t.press("}");
    EXPECT_TRUE(at(splits[1])) << t.text();
    t.press("{");
    EXPECT_TRUE(at(splits[0])) << t.text();
}

TEST_F(Stepping, OverASplitThatIsPlannedItsCopiesAreMarkedAndCounted) {
    const std::vector<Step> splits = steps_where(*source, [](const Record& r) {
        const auto* f = std::get_if<record::SplitEnd>(&r.fact);
        return f && r.evaluation == 1;
    });
    const std::vector<Step> copies = steps_where(
        *source, [](const Record& r) { return std::holds_alternative<record::CopyMade>(r.fact) && r.evaluation == 1; });
    ASSERT_EQ(splits.size(), 2U);
    ASSERT_GT(copies.size(), 1U);
    t.press(":step " + std::to_string(splits[0]) + "\n}");
    ASSERT_TRUE(at(splits[1])) << t.text();
    EXPECT_TRUE(t.shows(" · " + std::to_string(copies.size()) + " copies made on the way")) << t.text();
    EXPECT_TRUE(t.shows("├ nodes, " + std::to_string(copies.size()) + " changed ")) << t.text();
    t.press("3");
    EXPECT_NE(line_with(t, "•"), "") << t.text();
    t.press(":step " + std::to_string(copies[0]) + "\n"); // of the record that makes one, once
    EXPECT_TRUE(t.hides("on the way")) << t.text();
}

TEST_F(Stepping, ByChangeOfATensor) {
    History history(source);
    const OwnedGraph& graph = *history.graph_of(history.plan(1));
    const auto id = static_cast<TensorId>(
        std::find_if(graph.tensors.begin(), graph.tensors.end(), [](const TensorInfo& x) { return x.name == "l_out-2"; }) -
        graph.tensors.begin());
    const std::vector<Step> changes = steps_where(*source, [&](const Record& r) {
        const auto* f = std::get_if<record::Assign>(&r.fact);
        return f && r.evaluation == 1 && f->tensor == id;
    });
    ASSERT_FALSE(changes.empty());
    t.press(":step " + std::to_string(source->evaluation(1).first + 200) + "\n:tensor l_out-2\n");
    ASSERT_TRUE(t.shows("┬ l_out-2 ")) << t.text();
    t.press("f");
    EXPECT_TRUE(at(changes.front())) << t.text();
    EXPECT_TRUE(t.shows("┬ l_out-2 ")) << t.text();
    EXPECT_TRUE(t.shows("l_out-2: - → Vulkan0 by 2.sup")) << t.text();
    EXPECT_NE(line_with(t, "now ", "Vulkan0", "was unassigned"), "") << "old and new, beside each other: " << t.text();
    t.press("fF");
    EXPECT_TRUE(at(changes.front())) << t.text();
}

TEST_F(Stepping, ToTheEndsAndToANumber) {
    t.press("<");
    EXPECT_TRUE(at(0)) << t.text();
    t.press(">");
    EXPECT_TRUE(at(source->n_steps() - 1)) << t.text();
    t.press("g1,234\n");
    EXPECT_TRUE(at(1234)) << t.text();
}

TEST_F(Stepping, ToABreakpointAndBack) {
    const auto took_ns = [](const Record& r) {
        const auto* f = std::get_if<record::Execute>(&r.fact);
        return f && f->backend == 0 ? f->end_ns - f->start_ns : -1;
    };
    std::vector<int64_t> times; // of the device's kernels, the longest first
    source->for_each(0, source->n_steps(), [&](const Record& r) { times.push_back(took_ns(r)); });
    std::sort(times.rbegin(), times.rend());
    const int64_t more_than = times.at(9) / 1000;
    ASSERT_GT(more_than, 1);
    const std::vector<Step> hits = steps_where(*source, [&](const Record& r) { return took_ns(r) > more_than * 1000; });
    ASSERT_GE(hits.size(), 2U);
    t.press("bkind=execute backend=Vulkan0 time>" + std::to_string(more_than) + "us\n<c");
    EXPECT_TRUE(at(hits[0])) << t.text();
    t.press("c");
    EXPECT_TRUE(at(hits[1])) << t.text();
    t.press("C");
    EXPECT_TRUE(at(hits[0])) << t.text();
    t.press("C");
    EXPECT_TRUE(t.shows("no record before this step matches")) << t.text();
    EXPECT_TRUE(at(hits[0])) << t.text();
}

TEST_F(Stepping, AfterASweepWhatChangedIsMarkedCountedAndSelected) {
    History history(source);
    const std::vector<Step> sweeps = steps_where(*source, [](const Record& r) {
        const auto* f = std::get_if<record::PassEnd>(&r.fact);
        return f && r.evaluation == 1 && (f->pass == Pass::gpu_down || f->pass == Pass::place);
    });
    ASSERT_EQ(sweeps.size(), 2U);
    int changed = 0;
    const PlanState before = history.state_at(sweeps[0]);
    const PlanState& after = history.state_at(sweeps[1]);
    for (size_t i = 0; i < before.tensors.size(); ++i) {
        changed += before.tensors[i].backend != after.tensors[i].backend ? 1 : 0;
    }
    ASSERT_GT(changed, 1);
    go(sweeps[0]);
    t.press("s");
    ASSERT_TRUE(at(sweeps[1])) << t.text();
    EXPECT_TRUE(t.shows("pass 2a (gpu down) ends: " + std::to_string(changed) + " tensors assigned")) << t.text();
    EXPECT_TRUE(t.shows("├ nodes, " + std::to_string(changed) + " changed ")) << t.text();
    EXPECT_NE(line_with(t, "│▸•"), "") << "the first of them is selected: " << t.text();
    EXPECT_NE(line_with(t, "now ", "was unassigned"), "") << t.text();
}

TEST_F(Stepping, BackOverAChangeSaysWhatItWas) {
    const std::vector<Step> assigns = steps_where(*source, [](const Record& r) {
        const auto* f = std::get_if<record::Assign>(&r.fact);
        return f && r.evaluation == 1 && f->pass == Pass::gpu_down && f->after == 0;
    });
    const auto about = std::get<record::Assign>(History(source).record(assigns[3]).fact).tensor;
    History history(source);
    const std::string tensor = history.tensor_name(history.state_at(assigns[3]), about);
    go(assigns[3]);
    t.press("p");
    ASSERT_TRUE(at(assigns[3] - 1)) << t.text();
    EXPECT_TRUE(t.shows(tensor + ": Vulkan0 → -")) << t.text();
}

TEST_F(Stepping, TheListGoesToTheRowThatARecordIsAbout) {
    const std::vector<Step> runs = steps_where(*source, [](const Record& r) {
        const auto* f = std::get_if<record::SplitRun>(&r.fact);
        return f && r.evaluation == 1 && f->split == 1;
    });
    ASSERT_EQ(runs.size(), 1U);
    t.press("2:step " + std::to_string(runs[0] - 1) + "\n{Home}n");
    ASSERT_TRUE(at(runs[0])) << t.text();
    EXPECT_TRUE(t.shows("┬ split 1 ")) << t.text();
    EXPECT_NE(line_with(t, "│▸•", "Vulkan0"), "") << t.text();
}

/// What a screen says without what depends on the way there: the line that says what the last move was, and where the list is
/// scrolled to.
std::string said_by(Terminal& t) {
    std::string text = t.line(0) + '\n' + t.line(1) + '\n';
    const std::vector<std::string> lines = t.lines();
    for (size_t row = 2; row + 4 < lines.size(); ++row) {
        if (lines[row].starts_with("│▸")) {
            std::string line = lines[row];
            if (const size_t mark = line.find("•"); mark != std::string::npos) { // of what the last move changed
                line.replace(mark, std::string_view("•").size(), " ");
            }
            text += line + '\n';
        }
    }
    return text;
}

class EachView : public ::testing::TestWithParam<char> {};
INSTANTIATE_TEST_SUITE_P(Of, EachView, ::testing::Values('1', '2', '3', '4', '5', '6', '7', '8', '9', '0'));

TEST_P(EachView, IsTheSameForwardAndBackward) {
    const auto source = sample(name);
    Inspecting t(60, 110, [] { return inspect_sample(name); });
    const auto at = [&](Step step) { return t.shows("step " + words::count(step) + "/"); };
    t.press(std::string("a") + GetParam()); // the selection stays: each screen is about the same tensor
    ASSERT_TRUE(t.shows("selection stays")) << t.text();
    for (const char* unit : {"np", "sS", "NP"}) {
        const Step from = source->evaluation(1).first + 300;
        t.press(":step " + std::to_string(from) + "\n:tensor l_out-2\n" + GetParam());
        ASSERT_TRUE(at(from)) << t.text();
        std::vector<std::string> forward;
        t.press(std::string(1, unit[1])); // both ways begin at a moment of the unit
        ASSERT_TRUE(t.wait_until([&] { return t.line(0).find("step " + words::count(from) + "/") == std::string::npos; }))
            << t.text();
        constexpr int n = 6;
        for (int i = 0; i < n; ++i) {
            forward.push_back(said_by(t));
            const std::string before = t.line(0);
            t.press(std::string(1, unit[0]));
            ASSERT_TRUE(t.wait_until([&] { return t.line(0) != before; })) << t.text();
        }
        for (int i = n - 1; i >= 0; --i) {
            const std::string before = t.line(0);
            t.press(std::string(1, unit[1]));
            ASSERT_TRUE(t.wait_until([&] { return t.line(0) != before; })) << t.text();
            EXPECT_EQ(said_by(t), forward[static_cast<size_t>(i)]) << unit << ' ' << i;
        }
    }
}

// A program that runs

volatile std::sig_atomic_t go_on_descriptor = -1;
int computes[2] = {-1, -1}; ///< a pipe that is written to when the program has recorded its first evaluation
void go_on(int) {
    const uint64_t one = 1;
    [[maybe_unused]] const auto written = write(go_on_descriptor, &one, sizeof one);
}

/// A program that computes until it is told by SIGUSR1 to record an evaluation.
int inspect_waiting_program(bool held) {
    go_on_descriptor = eventfd(0, EFD_CLOEXEC);
    std::signal(SIGUSR1, go_on);
    auto store = std::make_shared<LiveStore>();
    LiveGate gate(*store, held);
    std::thread program([&] {
        uint64_t told = 0;
        while (read(go_on_descriptor, &told, sizeof told) < 0) {}
        test::MadeRun(2).record(gate, 1);
    });
    InspectorOptions options;
    options.title = "a run";
    options.gate = &gate;
    std::_Exit(run_inspector(store, options)); // the program may still compute
}

int inspect_waiting() { return inspect_waiting_program(false); }
int inspect_waiting_to_be_held() { return inspect_waiting_program(true); }

/// A program that records an evaluation, then computes until it is told by SIGUSR1 to go on to the next.
int inspect_computing() {
    go_on_descriptor = eventfd(0, EFD_CLOEXEC);
    std::signal(SIGUSR1, go_on);
    auto store = std::make_shared<LiveStore>();
    LiveGate gate(*store);
    const int ended = eventfd(0, EFD_CLOEXEC);
    std::thread program([&] {
        test::MadeRun run(2);
        run.record(gate, 1);
        [[maybe_unused]] const auto said = write(computes[1], "!", 1);
        for (EvaluationId e = 1; e < 3; ++e) {
            uint64_t told = 0;
            while (read(go_on_descriptor, &told, sizeof told) < 0) {}
            run.record_more(gate, e, e + 1);
        }
        eventfd_write(ended, 1);
    });
    InspectorOptions options;
    options.title = "a run";
    options.gate = &gate;
    options.ended_fd = ended;
    std::_Exit(run_inspector(store, options)); // the program still computes
}

TEST(LiveStepping, CtrlCInterruptsTheRunNotTheProgram) {
    ASSERT_EQ(pipe(computes), 0);
    Terminal t(24, 110, inspect_computing);
    ASSERT_TRUE(t.shows("HELD")) << t.text();
    t.press("c");
    ASSERT_TRUE(t.shows("RUNNING")) << t.text();
    EXPECT_TRUE(t.shows("running: Space or Ctrl-C interrupts it")) << t.text();
    char said = 0;
    ASSERT_EQ(read(computes[0], &said, 1), 1); // from now on no record comes
    EXPECT_TRUE(t.shows("Space hold  ")) << t.text();
    t.press("{Ctrl-C}");
    ASSERT_TRUE(t.shows("holding at the next record; until it comes, c lets the program run on")) << t.text();
    t.send_signal(SIGUSR1); // the program goes on, and is held at once
    ASSERT_TRUE(t.shows("interrupted, the program waits: c lets it go on")) << t.text();
    EXPECT_NE(t.line(0).find("HELD"), std::string::npos) << t.text();
    EXPECT_NE(t.line(0).find("eval 1 (0…1) decode"), std::string::npos) << t.text();
    t.press("p"); // what was recorded is there
    ASSERT_TRUE(t.shows("eval 0 (0…1) prefill")) << t.text();
    t.press("{Ctrl-C}");
    ASSERT_TRUE(t.shows("the program is held already")) << t.text();
    t.press("q");
    EXPECT_EQ(t.wait_for_exit(), 0);
}

/// What was asked for is told until it is done, also where no record comes for long.
TEST(LiveStepping, AHoldStandsUntilARecordComesOrItIsTakenBack) {
    ASSERT_EQ(pipe(computes), 0);
    Terminal t(24, 130, inspect_computing);
    ASSERT_TRUE(t.shows("HELD")) << t.text();
    EXPECT_LT(t.find("held at the next record").first, 0) << t.text();
    t.press("c");
    char said = 0;
    ASSERT_EQ(read(computes[0], &said, 1), 1); // from now on no record comes
    ASSERT_TRUE(t.shows("Space hold")) << t.text();
    const auto expect_hold = [&](const std::string& keys, const std::string& told) {
        t.press(keys);
        ASSERT_TRUE(t.shows(told)) << t.text();
        EXPECT_TRUE(t.shows(" held at the next record · following ")) << t.text();
        EXPECT_TRUE(t.hides("Space hold")) << t.text();
        EXPECT_TRUE(t.shows("  c run  ")) << t.text();
        EXPECT_NE(t.line(0).find("RUNNING"), std::string::npos) << t.text();
    };
    expect_hold(" ", "holding at the next record; until it comes, c lets the program run on");
    expect_hold("N", "the program will be held at its next record: from there it can be stepped");
    expect_hold(" ", "the program will be held at its next record already; until it comes, c lets it run on");
    t.press("c");
    ASSERT_TRUE(t.shows("running: Space or Ctrl-C interrupts it")) << t.text();
    EXPECT_TRUE(t.shows("Space hold")) << t.text();
    EXPECT_TRUE(t.hides("held at the next record")) << t.text();
    t.press("N");
    ASSERT_TRUE(t.shows("the program is running: Space holds it")) << t.text();
    t.send_signal(SIGUSR1); // the program goes on, and is not held
    ASSERT_TRUE(t.shows("─ eval 1 (0…1) ")) << t.text();
    EXPECT_NE(t.line(0).find("RUNNING"), std::string::npos) << t.text();
    expect_hold(" ", "holding at the next record");
    t.send_signal(SIGUSR1);
    ASSERT_TRUE(t.shows("interrupted, the program waits: c lets it go on")) << t.text();
    EXPECT_TRUE(t.hides("held at the next record")) << t.text();
    EXPECT_NE(t.line(0).find("HELD"), std::string::npos) << t.text();
    t.press("q");
    EXPECT_EQ(t.wait_for_exit(), 0);
}

TEST(LiveStepping, AProgramThatRecordsNothingYetIsToBeHeldFromItsBeginning) {
    Terminal t(24, 130, inspect_waiting_to_be_held);
    ASSERT_TRUE(t.shows("held at the next record · following ")) << t.text();
    EXPECT_TRUE(t.hides("Space hold")) << t.text();
    t.press("N");
    ASSERT_TRUE(t.shows("the program will be held at its next record: from there it can be stepped")) << t.text();
    t.press("c");
    ASSERT_TRUE(t.shows("running: Space or Ctrl-C interrupts it")) << t.text();
    EXPECT_TRUE(t.hides("held at the next record")) << t.text();
    t.send_signal(SIGUSR1);
    EXPECT_TRUE(t.shows("─ eval 0 (0…0) ")) << t.text();
    t.press("q");
    EXPECT_EQ(t.wait_for_exit(), 0);
}

/// As tail -f: what is complete of the run is shown as it comes, until the user moves about.
TEST(LiveStepping, FollowsTheRunUntilTheUserMovesAndAgainWithAKey) {
    ASSERT_EQ(pipe(computes), 0);
    Terminal t(24, 110, inspect_computing);
    ASSERT_TRUE(t.shows("HELD")) << t.text();
    t.press("c");
    ASSERT_TRUE(t.shows("─ eval 0 ")) << t.text();
    EXPECT_TRUE(t.shows(" following ")) << t.text();
    t.press("{End}");
    ASSERT_TRUE(t.shows("not following: G follows")) << t.text();
    t.send_signal(SIGUSR1); // a second evaluation
    ASSERT_TRUE(t.shows("─ eval 0 (0…1) ")) << "the place stays: " << t.text();
    t.press("G");
    ASSERT_TRUE(t.shows("─ eval 1 (0…1) ")) << t.text();
    ASSERT_TRUE(t.hides("not following")) << t.text();
    t.send_signal(SIGUSR1); // the third, and the end
    EXPECT_TRUE(t.shows("─ eval 2 (0…2) ")) << t.text();
    EXPECT_TRUE(t.shows("ENDED")) << t.text();
    t.press("q");
    EXPECT_EQ(t.wait_for_exit(), 0);
}

TEST(LiveStepping, AMovementStopsFollowingAlsoWhereNothingIsRecordedYet) {
    Terminal t(24, 110, inspect_waiting);
    ASSERT_TRUE(t.shows(" following ")) << t.text();
    t.press("{End}");
    ASSERT_TRUE(t.shows("not following: G follows")) << t.text();
    t.send_signal(SIGUSR1);
    t.press("G");
    EXPECT_TRUE(t.hides("not following")) << t.text();
    EXPECT_TRUE(t.shows("─ eval 0 (0…0) ")) << t.text();
    t.press("q");
    EXPECT_EQ(t.wait_for_exit(), 0);
}

int inspect_made() {
    auto store = std::make_shared<LiveStore>();
    LiveGate gate(*store);
    const int ended = eventfd(0, EFD_CLOEXEC);
    std::thread program([&] {
        test::MadeRun(2).record(gate, 3);
        eventfd_write(ended, 1);
    });
    InspectorOptions options;
    options.gate = &gate;
    options.title = "made";
    options.ended_fd = ended;
    const int code = run_inspector(store, options);
    gate.set_breakpoint({});
    gate.run();
    program.join();
    return code;
}

/// The same keys lead a recorded trace and the running program that records it to the same steps, and both say the same of them.
TEST(LiveStepping, IsSteppingThroughTheRecordedTrace) {
    Terminal live(24, 110, inspect_made);
    Terminal recorded(24, 110, [] {
        InspectorOptions options;
        options.title = "made";
        return run_inspector(test::made_trace(2, 3), options);
    });
    ASSERT_TRUE(live.shows("HELD")) << live.text();
    ASSERT_TRUE(recorded.shows("q quit")) << recorded.text();
    recorded.press("<");
    ASSERT_TRUE(recorded.shows("step 0/")) << recorded.text();
    const auto step_of = [](Terminal& t) { // "526", "1,212"
        const std::string line = t.line(0);
        const size_t at = line.find("step ") + 5;
        std::string step = line.substr(at, line.find('/', at) - at);
        std::erase(step, ',');
        return std::stoi(step);
    };
    const auto said = [](Terminal& t) { // how many evaluations there will be is not known while they run
        return std::regex_replace(t.line(21), std::regex("…[0-9]+"), "");
    };
    int n_keys = 0, n_noted = 0; // a live run also notes where it was held, each time that an evaluation has run
    for (const char* keys : {"n", "N", "n", "s", "N", "}", "n", "}", "N", "]", "t", "}"}) {
        const int before = step_of(recorded), live_before = step_of(live);
        recorded.press(keys);
        ASSERT_TRUE(recorded.wait_until([&] { return step_of(recorded) != before; })) << keys << '\n' << recorded.text();
        live.press(keys);
        ASSERT_TRUE(live.wait_until([&] { return step_of(live) != live_before && said(live) == said(recorded); }))
            << keys << '\n'
            << live.text() << recorded.text();
        ++n_keys;
        EXPECT_GE(step_of(live) - step_of(recorded), n_noted) << keys;
        n_noted = step_of(live) - step_of(recorded);
        EXPECT_LE(n_noted, 2 * n_keys) << keys; // a key may let it go twice: to a pass, and to what ends it
    }
    EXPECT_GT(n_noted, 0);
}

} // namespace
} // namespace schedscope
