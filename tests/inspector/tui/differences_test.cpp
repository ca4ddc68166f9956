// The values view on a trace of a verification: nodes on two backends.
#include "inspector/tui/inspector.h"
#include "tests/inspector/tui/harness/samples.h"
#include "tests/support/traces/made_trace.h"
#include "traces/store/tee.h"
#include "traces/store/writer.h"

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <limits>

#include <stdlib.h>

namespace schedscope {
namespace {

using test::line_with;
using test::Terminal;

/// Behind what a made run records: two evaluations whose nodes a device named Other computed once more. Each is a bit off, but
/// for: the norms are equal; ROPE is refused; kq-1 is beyond tolerance in evaluation 1, where it was watched; in evaluation 2
/// kqv_out-0 holds NaN.
class VerifiedRun {
public:
    void record(Recorder& to) {
        run_.record(to, 1);
        for (EvaluationId e = 1; e < 3; ++e) {
            to.set_evaluation(e);
            record::EvaluationBegin begin;
            begin.kind = GraphKind::decode;
            begin.reused = true;
            begin.n_tokens = begin.n_sequences = begin.n_outputs = 1;
            to.add(begin);
            for (const TensorId id : run_.graph().nodes) {
                compare(to, e, id);
            }
            to.add(record::NextToken{0, 500 + e, 3 + e, to.intern(" word"), 40, 160});
            to.add(record::EvaluationEnd{});
            to.flush();
        }
    }

    int n_compared() const { // of an evaluation
        int n = 0;
        for (const TensorId id : run_.graph().nodes) {
            n += is_view_op(*info(id).op) ? 0 : 1;
        }
        return n;
    }
    TensorId first_node() const { return run_.graph().nodes.front(); }

private:
    const TensorInfo& info(TensorId id) const { return run_.graph().tensors[static_cast<size_t>(id)]; }

    void compare(Recorder& to, EvaluationId e, TensorId id) {
        const TensorInfo& t = info(id);
        if (is_view_op(*t.op)) {
            return;
        }
        constexpr double nan = std::numeric_limits<double>::quiet_NaN();
        const StringId other = to.intern("Other");
        record::Difference d{id, 1, true, false, other, 0, 5, 2e-9, 5e-4, 0.25, 1.25, 1};
        if (t.op == Op::RMS_NORM) {
            d = {id, 1, true, false, other, 0, -1, 0, 1e-7, 0, 0, 0};
        } else if (t.op == Op::ROPE) {
            d = {id, 1, false, false, other, to.intern("Other does not run it: type"), -1, nan, nan, nan, nan, nan};
        } else if (t.name == "kq-1" && e == 1) {
            to.add(record::Value{id, 0, 12, 0, 0, -1, 3, 0.5, 7});
            to.add(record::ValueElement{id, 0, 0.5});
            to.add(record::ValueBucket{id, 0, 12});
            to.add(record::Value{id, other, 12, 1, 0, -1, 9, 1.5, 11});
            to.add(record::ValueElement{id, 0, 8.5});
            to.add(record::ValueBucket{id, 31, 11});
            d = {id, 1, true, true, other, 0, 7, 0.5, 5e-4, 8, 8.5, 0.5};
        } else if (t.name == "kqv_out-0" && e == 2) {
            d = {id,   1,   true, true, other, to.intern("NaN differs"), 3, std::numeric_limits<double>::infinity(),
                 5e-4, nan, nan,  4};
        }
        to.add(d);
    }

    test::MadeRun run_{2};
};

/// Where the records come from: the two must look the same.
enum class From { memory, file };

int inspect_verified(From from) {
    InspectorOptions options;
    options.title = "verified";
    if (from == From::memory) {
        auto store = std::make_shared<LiveStore>();
        VerifiedRun().record(*store);
        return run_inspector(store, options);
    }
    std::string folder = (std::filesystem::temp_directory_path() / "schedscope-XXXXXX").string();
    if (mkdtemp(folder.data()) == nullptr) {
        return 99;
    }
    {
        TraceWriter writer(folder + "/t");
        VerifiedRun().record(writer);
        writer.close();
    }
    const auto reader = std::make_shared<TraceReader>(folder + "/t");
    std::filesystem::remove_all(folder);
    return run_inspector(reader, options);
}

class Differences : public ::testing::TestWithParam<std::tuple<std::pair<int, int>, From>> {
protected:
    static int cols() { return std::get<0>(GetParam()).second; }
    /// The view at the end of evaluation 1.
    bool open() { return t.shows("q quit") && (t.press("<]t0"), t.shows("eval 1 (0…2)")) && t.shows("beyond in all"); }

    /// Waits for a line with all of these.
    template <typename... Texts> bool has_line(const Texts&... texts) {
        return t.wait_until([&] { return line_with(t, texts...) != ""; });
    }

    Terminal t{std::get<0>(GetParam()).first, cols(), [] { return inspect_verified(std::get<1>(GetParam())); }};
};
INSTANTIATE_TEST_SUITE_P(At, Differences,
                         ::testing::Combine(::testing::Values(std::pair(24, 80), std::pair(40, 120), std::pair(80, 250)),
                                            ::testing::Values(From::memory, From::file)),
                         [](const auto& info) {
                             return "cols" + std::to_string(std::get<0>(info.param).second) +
                                    (std::get<1>(info.param) == From::memory ? "_memory" : "_file");
                         });

TEST_P(Differences, AreListedInEvaluationOrderWithTheirVerdicts) {
    ASSERT_TRUE(open()) << t.text();
    EXPECT_TRUE(t.shows("values " + std::to_string(VerifiedRun().n_compared()) + ", 2 beyond in all")) << t.text();
    EXPECT_TRUE(t.shows("error of each node")) << t.text();
    t.press("/kq-1\n");
    EXPECT_TRUE(has_line("▸/kq-1", "0.5", "▸beyond")) << t.text();
    EXPECT_TRUE(has_line("norm-1", "equal")) << t.text();
    EXPECT_TRUE(has_line("q_rope-1", "skipped")) << t.text();
    if (cols() >= 250) {
        EXPECT_TRUE(has_line("▸/kq-1", "MUL_MAT", "0.0005", "8", "[7, 0, 0]", "▸beyond")) << t.text();
    }
}

TEST_P(Differences, TheDetailsSayWhereAndWhatBothHeld) {
    ASSERT_TRUE(open()) << t.text();
    t.press("/kq-1\n");
    ASSERT_TRUE(t.shows("┬ kq-1 ")) << t.text();
    EXPECT_TRUE(has_line("beyond   Other against CPU")) << t.text();
    EXPECT_TRUE(t.shows("0.5, tolerated 0.0005")) << t.text();
    EXPECT_TRUE(t.shows("Other  8.5")) << t.text();
    EXPECT_TRUE(t.shows("CPU    0.5")) << t.text();
    EXPECT_TRUE(t.shows("the first one beyond")) << t.text();
    if (cols() == 80) {
        t.press("{Tab}{PgDn}");
    }
    EXPECT_TRUE(has_line("max      9 ", " 3")) << t.text();
    EXPECT_TRUE(has_line("NaN      1 ", " 0")) << t.text();
    EXPECT_TRUE(has_line("[0]      8.5 ", " 0.5")) << t.text();
}

TEST_P(Differences, WhatWasNotWatchedSaysHowToWatchIt) {
    ASSERT_TRUE(open()) << t.text();
    t.press("/ffn_out-0\n{Tab}");
    EXPECT_TRUE(t.shows("┬ ffn_out-0 ")) << t.text();
    EXPECT_TRUE(t.shows("--watch NAME")) << t.text();
    EXPECT_TRUE(t.shows("the first beyond: kq-1")) << t.text();
}

TEST_P(Differences, AreFoundByQueries) {
    ASSERT_TRUE(open()) << t.text();
    t.press("&why=beyond\n");
    EXPECT_TRUE(t.wait_until([&] { return line_with(t, "kq-1", "▸beyond") != "" && line_with(t, "equal") == ""; })) << t.text();
    t.press("&{Ctrl-U}why=skipped\n");
    EXPECT_TRUE(t.wait_until([&] { return line_with(t, "skipped") != "" && line_with(t, "▸beyond") == ""; })) << t.text();
    t.press("&{Ctrl-U}error>1e-9 error<1e-8\n");
    EXPECT_TRUE(t.wait_until([&] { return line_with(t, "2e-09", "within") != "" && line_with(t, "skipped") == ""; })) << t.text();
    t.press("&{Ctrl-U}\n");
    t.press("b why=beyond\n");
    t.press("<c");
    EXPECT_TRUE(t.shows("breakpoint: kq-1: Other differs from CPU")) << t.text();
    t.press("c");
    EXPECT_TRUE(t.shows("breakpoint: kqv_out-0: Other differs from CPU")) << t.text();
    EXPECT_TRUE(has_line("▸•kqv_out-0", "inf", "beyond")) << t.text();
    EXPECT_TRUE(has_line("▸beyond", "Other against CPU")) << "the details stand where the record is told\n" << t.text();
    EXPECT_TRUE(t.shows("NaN differs")) << t.text();
}

TEST_P(Differences, OrderedByErrorTheWorstIsFirst) {
    ASSERT_TRUE(open()) << t.text();
    t.press("{Home}");
    const auto head = t.find("nmse");
    ASSERT_GE(head.first, 0) << t.text();
    t.click(head.first, head.second);
    EXPECT_TRUE(t.wait_until([&] { return t.line(head.first + 1).find("kq-1") != std::string::npos; })) << t.text();
}

TEST_P(Differences, TheChartShowsAndSelectsTheNodeBeyond) {
    ASSERT_TRUE(open()) << t.text();
    ASSERT_TRUE(t.shows("│tolerated ─")) << t.text();
    // Only what is beyond reaches above the line of what is tolerated.
    const int line = t.find("│tolerated ─").first;
    int column = -1;
    for (int col = 11; col < cols() - 1; ++col) {
        if (const std::string cell = t.cell(line - 1, col); cell != " " && !cell.empty()) {
            EXPECT_EQ(column, -1) << "one bar, one cell wide or less than four\n" << t.text();
            column = col;
            while (col + 1 < cols() - 1 && t.cell(line - 1, col + 1) == cell) {
                ++col;
            }
        }
    }
    ASSERT_GT(column, 0) << t.text();
    t.click(line - 1, column);
    EXPECT_TRUE(t.shows("┬ kq-1 ")) << t.text();
}

TEST_P(Differences, AreInTheStoryOfTheNodesView) {
    ASSERT_TRUE(open()) << t.text();
    t.press("1/kq-1\ne{End}");
    EXPECT_TRUE(t.shows("differs from CPU")) << t.text();
}

TEST_P(Differences, BeforeAnythingWasComparedItSaysWhatToDo) {
    ASSERT_TRUE(t.shows("q quit"));
    t.press("<]0");
    EXPECT_TRUE(t.shows("nothing was compared")) << t.text();
}

TEST_P(Differences, SteppingSelectsTheNodeThatWasCompared) {
    ASSERT_TRUE(t.shows("q quit"));
    t.press("<]0nn");
    ASSERT_TRUE(t.shows("values 2, ")) << t.text();
    t.press("p");
    EXPECT_TRUE(t.shows("values 1, ")) << t.text();
    t.press("n");
    EXPECT_TRUE(t.shows("values 2, ")) << t.text();
}

} // namespace
} // namespace schedscope
