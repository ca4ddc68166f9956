// Each view on recorded samples, small and large: what is on the screen is what the tables say (as `show --json` prints them),
// counted again here where they don't.
#include "inspector/tui/inspector.h"
#include "tests/inspector/tui/harness/inspecting.h"
#include "tests/inspector/tui/harness/samples.h"
#include "tests/support/traces/made_trace.h"
#include "tests/support/traces/plan_rows.h"
#include "tests/support/traces/sample_run.h"
#include "traces/diff/diff.h"
#include "traces/history/accounts/copies.h"
#include "traces/history/accounts/memory.h"
#include "traces/history/accounts/passes.h"
#include "traces/history/accounts/time.h"
#include "traces/history/accounts/tokens.h"
#include "traces/history/words/words.h"
#include "traces/replay/folded_changes.h"
#include "traces/replay/replay.h"
#include "traces/replay/what_if.h"
#include "traces/store/bounded/bounded_recorder.h"
#include "traces/store/live_store.h"

#include <gtest/gtest.h>

#include <cmath>
#include <gmock/gmock.h>
#include <set>
#include <sstream>

namespace schedscope {
namespace {

using test::inspect_sample;
using test::Inspecting;
using test::line_with;
using test::sample;
using test::Terminal;

struct ScreenSize {
    int rows, cols;
};
void PrintTo(const ScreenSize& size, std::ostream* out) { *out << size.cols << "x" << size.rows; }

class View : public ::testing::TestWithParam<ScreenSize> {
protected:
    View() : View(0) {}
    explicit View(int32_t evaluation) : plan(history.plan(evaluation)) {}
    static constexpr const char* name = "partial-offload";
    std::shared_ptr<const RecordSource> source = sample(name);
    History history{source};
    const PlanState& plan; // what is shown: of evaluation 0, the first prompt, which opens
    Terminal t{GetParam().rows, GetParam().cols, [] { return inspect_sample(name); }};

    bool wide() const { return GetParam().cols >= 120; }
    bool widest() const { return GetParam().cols >= 250; }
    void open(char key, const std::string& title) {
        ASSERT_TRUE(t.shows("q quit")) << t.text();
        if (plan.evaluation != history.opening()) {
            t.press("]");
            ASSERT_TRUE(t.shows("eval " + std::to_string(plan.evaluation) + " (0…3)")) << t.text();
        }
        t.press(std::string(1, key));
        ASSERT_TRUE(t.shows("├ " + title)) << t.text();
    }
    /// The first cells of a name, as narrow columns show it.
    static std::string begin_of(const std::string& text, size_t n) { return text.substr(0, n); }
};
INSTANTIATE_TEST_SUITE_P(At, View, ::testing::Values(ScreenSize{24, 80}, ScreenSize{40, 120}, ScreenSize{80, 250}),
                         [](const auto& info) {
                             return std::to_string(info.param.cols) + "x" + std::to_string(info.param.rows);
                         });

/// The first decode: a plan of two splits, which the evaluations behind it run again.
class DecodeView : public View {
protected:
    DecodeView() : View(1) {}
};
INSTANTIATE_TEST_SUITE_P(At, DecodeView, ::testing::Values(ScreenSize{24, 80}, ScreenSize{40, 120}, ScreenSize{80, 250}),
                         [](const auto& info) {
                             return std::to_string(info.param.cols) + "x" + std::to_string(info.param.rows);
                         });

TEST_P(View, OfNodesSaysWhereAndWhy) {
    open('1', "nodes");
    for (const char* node : {"embd", "l_out-1", "Qcur-3", "result_norm"}) {
        const auto rows = test::assignment_rows(history, plan);
        const auto row = std::find_if(rows.begin(), rows.end(), [&](const test::AssignmentRow& r) { return r.name == node; });
        ASSERT_NE(row, rows.end()) << node;
        t.press(":tensor " + std::string(node) + "@" + std::to_string(row->id) + "\n");
        ASSERT_TRUE(t.shows("┬ " + std::string(node) + " ")) << t.text();
        const std::string line = line_with(t, "│▸", node);
        EXPECT_NE(line.find(history.backend_name(row->backend)), std::string::npos) << line;
        EXPECT_NE(line.find(row->cause), std::string::npos) << line;
        if (wide()) {
            EXPECT_NE(line.find(" " + std::to_string(row->split.value()) + " "), std::string::npos) << line;
        }
    }
    if (wide()) { // there is room for the passes
        for (const accounts::PassRow& pass : accounts::passes(history, plan.planned_in)) {
            if (pass.pass < Pass::optimise) {
                EXPECT_NE(line_with(t, "with", std::to_string(pass.assigned) + "/"), "") << t.text();
            }
        }
    }
}

/// What the right pane says, in one line.
std::string details(Terminal& t) {
    std::string text;
    for (const std::string& line : t.lines()) {
        const std::string_view border = "│";
        const size_t end = line.rfind(border), begin = end == 0 || end == std::string::npos ? end : line.rfind(border, end - 1);
        if (begin == std::string::npos || begin == 0) {
            continue;
        }
        std::istringstream words(line.substr(begin + border.size(), end - begin - border.size()));
        for (std::string word; words >> word;) {
            text += (text.empty() ? "" : " ") + word;
        }
    }
    return text;
}

TEST_P(DecodeView, OfSplitsSaysWhyTheyStart) {
    open('2', "splits 2");
    const auto rows = test::split_rows(history, plan);
    ASSERT_EQ(rows.size(), 2U);
    for (const test::SplitRow& row : rows) {
        const std::string line = line_with(t, " " + std::to_string(row.index) + " " + history.backend_name(row.backend),
                                           split_reason_name(row.why.value()));
        EXPECT_NE(line.find(" " + std::to_string(row.last_node - row.first_node + 1) + " "), std::string::npos) << t.text();
        if (wide()) {
            int64_t bytes = 0;
            for (const test::SplitInputRow& input : row.inputs) {
                bytes += input.bytes.value();
            }
            EXPECT_NE(line.find(" " + std::to_string(row.inputs.size()) + " "), std::string::npos) << line;
            EXPECT_NE(line.find(words::bytes(bytes)), std::string::npos) << line;
        }
        if (widest()) {
            EXPECT_NE(line.find(words::duration(row.time_ns.value())), std::string::npos) << line;
        }
    }
    t.press("{Home}{Down}");
    ASSERT_TRUE(t.shows("┬ split 1 ")) << t.text();
    EXPECT_NE(details(t).find("backend changes at #62 ADD l_out-1"), std::string::npos) << t.text();
    EXPECT_NE(t.line(3).find("nodes 130"), std::string::npos) << "the bars: " << t.text();
    EXPECT_NE(t.line(5).find("bytes 1.0 KiB"), std::string::npos) << t.text();
}

TEST_P(DecodeView, OfCopiesSaysFromWhereToWhereAndHowOften) {
    open('3', "copies 7");
    std::map<TensorId, int64_t> times; // counted from the records, up to the step that is shown
    source->for_each(0, source->evaluation(plan.evaluation).end, [&](const Record& record) {
        if (const auto* f = std::get_if<record::Transfer>(&record.fact)) {
            times[f->copy] += source->evaluation(record.evaluation).begin.planned_in == plan.planned_in ? 1 : 0;
        }
    });
    for (const accounts::CopyRow& row : accounts::copies(history, plan)) {
        const std::string name = widest() ? row.tensor + " " : begin_of(row.tensor, 6);
        const std::string line = line_with(t, "  " + name, "CPU ", words::bytes(row.size));
        const std::string selected = line_with(t, "▸ " + name, "CPU ", words::bytes(row.size));
        const std::string& shown = line.empty() ? selected : line;
        EXPECT_NE(shown.find(history.backend_name(row.to)), std::string::npos) << row.tensor << '\n' << t.text();
        if (widest()) {
            EXPECT_NE(shown.find(words::duration(row.time_ns.value())), std::string::npos) << shown;
        }
    }
    t.press("{Home}");
    ASSERT_TRUE(t.shows("┬ Vulkan0#ffn_out-1#0 ")) << t.text();
    const auto rows = accounts::copies(history, plan);
    EXPECT_TRUE(t.shows("moved   " + std::to_string(times[rows.front().id]) + " time in recorded")) << t.text();
    t.press("]"); // the next evaluation runs the same plan: at its end all were moved twice
    ASSERT_TRUE(t.shows("eval 2 (0…3)")) << t.text();
    EXPECT_TRUE(t.shows("moved   " + std::to_string(times[rows.front().id] + 1) + " times in recorded")) << t.text();
}

TEST_P(DecodeView, OfFusionSaysGroupsReasonsAndOrder) {
    const test::FusionRows table = test::fusion_rows(history, plan);
    open('4', "fusion & order " + std::to_string(table.fusion.size()) + ",");
    t.press("&kind=not_fused\n");
    ASSERT_TRUE(t.shows(std::to_string(table.not_fused.size()) + " of ")) << t.text();
    EXPECT_NE(line_with(t, "apart", begin_of(table.not_fused.front().why, 10)), "") << t.text();
    ASSERT_EQ(table.reorders.size(), 1U);
    t.press("&{Ctrl-U}kind=reorder\n{Home}");
    ASSERT_TRUE(t.shows("┬ moved ")) << t.text();
    // The details count what runs where now, and where it stood before.
    const test::ReorderRow& order = table.reorders.front();
    const int32_t first = test::split_rows(history, plan)[static_cast<size_t>(order.split)].first_node;
    EXPECT_EQ(first, 62);
    const auto moved = std::find_if(order.order.begin(), order.order.end(),
                                    [&](const int32_t& was) { return was != first + (&was - order.order.data()); });
    ASSERT_NE(moved, order.order.end());
    const int64_t now = first + (moved - order.order.begin());
    if (wide()) { // in one go on the screen
        EXPECT_NE(line_with(t, std::to_string(now) + "    " + std::to_string(*moved) + " ↑ "), "") << now << ' ' << *moved << '\n'
                                                                                                   << t.text();
    }
    t.press("&{Ctrl-U}kind=fusion\n{Home}");
    ASSERT_TRUE(t.shows("┬ one kernel ")) << t.text();
    EXPECT_TRUE(t.shows("kernel  " + table.fusion.front().kernel)) << t.text();
    for (const std::string& node : table.fusion.front().nodes) {
        EXPECT_NE(t.text().find(node), std::string::npos) << t.text();
    }
}

TEST_P(View, OfMemoryDrawsTheBuffers) {
    open('5', "memory ");
    const accounts::MemoryAccount table = accounts::memory(history, plan);
    for (const accounts::MemoryRow& buffer : table.memory) {
        const auto any = std::find_if(plan.placements.begin(), plan.placements.end(), [&](const record::Placement& p) {
            return history.buffer_type_name(p.buffer_type) == buffer.buffer_type;
        });
        t.press(":tensor " + history.tensor_name(plan, any->tensor) + "@" + std::to_string(any->tensor) + "\n5");
        const std::string heading = buffer.buffer_type + ": " + words::bytes(buffer.size) + ", used to " +
                                    words::bytes(buffer.peak) + ", most at once " + words::bytes(buffer.most_live) +
                                    " at place " + std::to_string(buffer.most_at);
        EXPECT_TRUE(t.shows(heading)) << heading << '\n' << t.text();
        EXPECT_NE(line_with(t, "needed", "█"), "") << t.text();
        const accounts::MemoryRow::Holder& largest =
            buffer.holders.front(); // at the top of the details: no screen is too low for it
        const std::string peak = "peak " + words::bytes(buffer.most_live) + " at " + buffer.place_of_most() + ", held by " +
                                 largest.name + " " + words::bytes(largest.bytes);
        EXPECT_NE(details(t).find(peak), std::string::npos) << peak << '\n' << t.text();
    }
    t.press(":tensor ffn_norm-0\n5");
    ASSERT_TRUE(t.shows("┬ ffn_norm-0 ")) << t.text();
    const auto it = std::find_if(plan.placements.begin(), plan.placements.end(),
                                 [&](const record::Placement& p) { return history.tensor_name(plan, p.tensor) == "ffn_norm-0"; });
    EXPECT_EQ(history.tensor_name(plan, it->in_place_of), "norm-0");
    EXPECT_TRUE(t.shows("bytes " + words::count(it->offset) + " to ")) << t.text();
    t.press("{Tab}");
    for (int i = 0; i < 12 && t.settles() && t.text().find("one place, used in place by") == std::string::npos; ++i) {
        t.press("{Down}");
    }
    EXPECT_TRUE(t.shows("one place, used in place by")) << t.text();
    t.press("{End}");
    EXPECT_TRUE(t.shows("for a prefill of 64 tokens")) << "the reserve: " << t.text();
}

TEST(Memory, OffsetsAreShownWhole) {
    History history(sample("pipeline"));
    const PlanState& plan = history.plan(history.opening());
    const auto farthest = std::max_element(plan.placements.begin(), plan.placements.end(),
                                           [](const auto& a, const auto& b) { return a.offset < b.offset; });
    ASSERT_GE(farthest->offset, 1'000'000) << "of nine characters";
    Terminal t(24, 120, [] { return inspect_sample("pipeline"); });
    ASSERT_TRUE(t.shows("q quit"));
    t.press("5:tensor " + history.tensor_name(plan, farthest->tensor) + "@" + std::to_string(farthest->tensor) + "\n5");
    EXPECT_TRUE(t.wait_until([&] { return !line_with(t, "▸ ", " " + words::count(farthest->offset) + " ").empty(); }))
        << t.text();
}

TEST_P(View, OfMemoryIsClickedLikeAList) {
    open('5', "memory ");
    const auto [row, col] = t.find("inp_embd"); // named within its rectangle, or in the list
    ASSERT_GE(row, 0) << t.text();
    t.click(row, col + 1);
    EXPECT_TRUE(t.shows("┬ inp_embd ")) << t.text();
}

TEST_P(View, OfTheTimelineDrawsLanes) {
    const accounts::TimeAccount time = accounts::time(history, plan, accounts::TimeBy::device);
    const int64_t took = time.extent.time_ns();
    open('6', "timeline " + words::duration(took));
    EXPECT_TRUE(t.shows("all " + words::duration(took))) << t.text();
    EXPECT_NE(line_with(t, "│Vulkan0 ", "█"), "") << t.text();
    EXPECT_NE(line_with(t, "│CPU ", "█"), "") << t.text();
    EXPECT_NE(line_with(t, "│Vulkan0 ", " " + std::to_string(std::lround(time.extent.percent(time.devices[0].busy()))) + "%"), "")
        << t.text();
    EXPECT_NE(line_with(t, "│splits", "▏7"), "") << "that took longest: " << t.text();
    EXPECT_NE(line_with(t, "▲"), "") << "the selected one is marked: " << t.text();
    t.press("{Tab}{End}");
    EXPECT_TRUE(t.shows("×")) << t.text();
    for (int i = 0; i < 120 && t.settles() && t.text().find("where the time") == std::string::npos; ++i) {
        t.press("{Up}");
    }
    EXPECT_TRUE(t.shows("where the time went,") && t.shows(words::duration(took))) // wrapped where it is narrow
        << t.text();
}

TEST_P(DecodeView, OfTheTimelineZoomsAndPans) {
    open('6', "timeline ");
    t.press("{Home}");
    ASSERT_TRUE(t.shows("├ all ")) << t.text();
    t.press("i");
    ASSERT_TRUE(t.hides("├ all ")) << t.text(); // around the first kernel
    const std::string once = t.line(2);
    t.press("i");
    ASSERT_TRUE(t.wait_until([&] { return t.line(2) != once; })) << t.text();
    const std::string twice = t.line(2);
    t.press("L");
    ASSERT_TRUE(t.wait_until([&] { return t.line(2) != twice; })) << t.text();
    t.press("H");
    ASSERT_TRUE(t.wait_until([&] { return t.line(2) == twice; })) << t.text();
    t.press("I");
    ASSERT_TRUE(t.wait_until([&] { return t.line(2) == once; })) << t.text();
    t.press("=");
    ASSERT_TRUE(t.shows("├ all ")) << t.text();
    const auto [row, col] = t.find("│Vulkan0 ");
    t.wheel(row, GetParam().cols / 2, false); // up: in, around the pointer
    ASSERT_TRUE(t.hides("├ all ")) << t.text();
    EXPECT_EQ(t.line(2).find("├ 0 ns to "), std::string::npos) << t.text();
    t.wheel(row, GetParam().cols / 2, true);
    ASSERT_TRUE(t.shows("├ all ")) << t.text();
    t.press("1i");
    EXPECT_TRUE(t.shows("there is nothing to zoom here")) << t.text();
}

TEST_P(View, OfTokensShowsTheText) {
    open('7', "tokens & reuse");
    t.press(">");
    ASSERT_TRUE(t.shows("eval 3 (0…3)")) << t.text();
    std::string text;
    for (const accounts::TokenRow& token : accounts::tokens(history)) {
        text += token.text;
    }
    const auto broken = std::find_if(text.begin(), text.end(), [](char c) { return c < 0; }); // half of a character
    text.erase(broken, text.end());
    EXPECT_EQ(text, "' fibe'k");
    EXPECT_TRUE(t.shows("seq 0  " + text)) << text << '\n' << t.text();
    for (const test::ReuseRow& row : test::reuse_rows(history)) {
        const std::string said = row.reused ? "reused" : row.failed ? "new: " + begin_of(*row.failed, 3) : "planned";
        EXPECT_NE(line_with(t, " " + std::to_string(row.eval) + " " + std::string(graph_kind_name(*row.kind)), said), "")
            << t.text();
    }
    t.press("<");
    ASSERT_TRUE(t.shows("step 0/")) << t.text();
    EXPECT_EQ(t.text().find("seq 0  "), std::string::npos) << "nothing is generated yet: " << t.text();
}

TEST_P(DecodeView, OfWhatIfSumsUp) {
    open('1', "nodes");
    WhatIf what_if;
    what_if.set("ngl=99");
    const ReplayResult result = replay(*source, options_for(what_if, *source));
    const PlanComparison& c = *std::find_if(result.comparisons.begin(), result.comparisons.end(),
                                            [&](const PlanComparison& p) { return p.evaluation == plan.evaluation; });
    t.press("wngl=99\n");
    ASSERT_TRUE(t.shows(" rows: what if n")) << t.text();
    EXPECT_TRUE(t.shows("├ evaluation 1, decode of 1 token")) << t.text();
    for (const auto& [backend, n] : c.recorded.nodes) {
        EXPECT_NE(
            line_with(t, "nodes on " + backend, " " + std::to_string(n) + " ", " " + std::to_string(c.now.nodes.at(backend))), "")
            << t.text();
    }
    EXPECT_NE(line_with(t, "memory of Vulkan0", "fits: "), "") << t.text();
    if (wide()) {
        EXPECT_NE(line_with(t, "splits", " " + std::to_string(c.recorded.splits) + " ", " " + std::to_string(c.now.splits)), "")
            << t.text();
        EXPECT_NE(line_with(t, "bytes copied a run", words::bytes(c.recorded.bytes_moved), words::bytes(c.now.bytes_moved)), "")
            << t.text();
    }
    t.press("/backend=NOSUCH\n");
    EXPECT_TRUE(t.shows("query: 'NOSUCH' is no backend")) << t.text();
    t.press("{Home}/kind~assignment Qcur-0 eval=1\n");
    ASSERT_TRUE(t.shows("┬ norm-0 … ffn_out-1 ")) << t.text();
    EXPECT_NE(line_with(t, "recorded", "CPU"), "") << t.text();
    EXPECT_NE(line_with(t, "changed", "Vulkan0"), "") << t.text();
}

/// Its rows are those that `replay --set` prints: alike ones of several layers and plans are one.
TEST_P(View, OfWhatIfIsFoldedAsTheCommandFoldsIt) {
    ASSERT_TRUE(t.shows("q quit"));
    WhatIf what_if;
    what_if.set("ngl=99");
    const ReplayResult result = replay(*source, options_for(what_if, *source));
    size_t n = 0;
    for (const AlikePlans& plans : alike_plans(result)) {
        n += folded_changes(*plans.front()).size();
    }
    EXPECT_EQ(n, 11U) << "of " << result.n_differences << " differences";
    t.press("wngl=99\n");
    ASSERT_TRUE(t.shows("├ 535 differences; 11 rows: what if n")) << t.text();
    t.press(":filter \n");
    EXPECT_TRUE(t.shows("all 11 lines")) << t.text();
    t.press("{Home}/cache_v_l1 eval=0\n"); // the cache, then what reads it
    ASSERT_TRUE(t.shows("found ")) << t.text();
    EXPECT_TRUE(t.shows("22 assignments in")) << t.text();
    t.press(".");
    EXPECT_TRUE(t.shows("12 assignments in")) << t.text();
    EXPECT_NE(line_with(t, "▸", "cache", wide() ? "CPU by 1.dst" : "CPU by 1…"), "") << t.text();
    EXPECT_TRUE(t.shows("recorded CPU by 1.dst")) << "in the details, whatever the width\n" << t.text();
}

TEST_P(View, OfWhatIfSaysWhyNothingChanges) {
    ASSERT_TRUE(t.shows("q quit"));
    t.press("wngl=3\n");
    ASSERT_TRUE(t.shows("nothing differs: ngl=3: it was recorded with 3")) << t.text();
    EXPECT_NE(t.text().find("nothing changes: all "), std::string::npos) << t.text();
    t.press("w{Ctrl-U}refuse=vulkan0:CONV_2D\n");
    ASSERT_TRUE(t.shows("nothing differs: refuse=vulkan0:CONV_2D: no graph has a node of")) << t.text();
    t.press("w{Ctrl-U}stages=1\n");
    EXPECT_TRUE(t.shows("stages=1: it was recorded with as many")) << t.text();
}

TEST_P(View, OfADiffShowsTwoTracesSideBySide) {
    ASSERT_TRUE(t.shows("q quit"));
    History other(sample("all-cpu"));
    const diff::Result result = diff::compare(history, other);
    t.press(":diff " + test::sample_path("all-cpu") + "\n");
    ASSERT_TRUE(t.shows("├ " + words::counted(result.differences.size(), "difference") + " in ")) << t.text();
    EXPECT_NE(line_with(t, "this trac", "all-cpu"), "") << t.text();
    t.press("/kind=assignment name~l_out-1\n");
    EXPECT_NE(line_with(t, "│▸", "Vulkan0", "CPU"), "") << t.text();
    t.press(":diff no-such.trace\n");
    EXPECT_TRUE(t.shows("no-such.trace")) << t.text();
}

TEST(Inspect, SaysOnASmallScreenWhatDiffers) {
    Terminal t(24, 80, [] { return inspect_sample("partial-offload", test::sample_path("all-cpu")); });
    t.press("8");
    ASSERT_TRUE(t.shows(" assi")) << t.text();
    EXPECT_NE(line_with(t, " what ", " name "), "") << t.text();
}

/// Of what differs alike there is one row, as in a what-if; its details have all of it.
TEST(Inspect, FoldsADiffAsAWhatIf) {
    Inspecting t(60, 200, [] { return inspect_sample("partial-offload", test::sample_path("llama-cpp")); });
    ASSERT_TRUE(t.shows("├ 810 differences in ")) << t.text();
    const std::string title = line_with(t, " rows: diff llama-cpp.trace ");
    EXPECT_LT(std::stoi(title.substr(title.find(" in ") + 4)), 120) << title;
    t.press(":filter \n");
    t.press("{Home}/name~node_52 kind=node\n");
    ASSERT_TRUE(t.shows("12 nodes in evaluation 0")) << t.text();
    EXPECT_NE(line_with(t, "│▸", "Vcur-0 (view) … kqv_out-3", " 12 ", "VIEW f32", "not there"), "") << t.text();
    for (const char* node : {"node_21:", "node_52:", "node_83:", "node_114:"}) {
        EXPECT_NE(details(t).find(" " + std::string(node) + " "), std::string::npos) << node << '\n' << t.text();
    }
    EXPECT_NE(line_with(t, "settings of one alone", " 19 ", " 6 "), "") << t.text();
    EXPECT_EQ(line_with(t, "│• flash_attention "), "") << "one line for all that only one knows: " << t.text();
}

TEST(Inspect, SaysInWordsThatMemoryIsNotPlannedAgain) {
    Inspecting t(40, 160, [] { return inspect_sample("partial-offload"); });
    t.press("wop-offload=off\n");
    ASSERT_TRUE(t.shows(" rows: what if op-offload=off ")) << t.text();
    t.press("{Home}/name~planned\n");
    ASSERT_TRUE(t.shows("┬ memory planned again ")) << t.text();
    EXPECT_NE(line_with(t, "│▸", "memory planned again", "because back", " no "), "") << t.text();
    EXPECT_TRUE(t.shows("because backend ids changed")) << t.text();
    EXPECT_NE(line_with(t, " placement ", "inp_embd … ", "256 bytes"), "") << "told together: " << t.text();
}

TEST(Inspect, CountsDecisionsOfAWhatIf) {
    Inspecting t(40, 160, [] { return inspect_sample("partial-offload"); });
    t.press("wngl=99\n");
    ASSERT_TRUE(t.shows(" rows: what if n")) << t.text();
    EXPECT_NE(line_with(t, "535 differences in ", " decisions"), "") << t.text();
    t.press("{Home}/kind~assignment cause~dst\n");
    EXPECT_NE(line_with(t, "pass 1 is the first that decides otherwise"), "") << t.text();
}

/// Of a narrow screen the settings stand above the figures, and what memory holds is said in fewer words.
TEST(Inspect, CutsNoWordOfAWhatIfOnANarrowScreen) {
    Inspecting t(24, 80, [] { return inspect_sample("llama-cpp"); });
    t.press("wngl=2\n");
    ASSERT_TRUE(t.shows(" rows: what if ")) << t.text();
    EXPECT_TRUE(t.shows(": what if ngl=2 ─")) << t.text();
    const std::string memory = line_with(t, "memory of CPU", "fits: ");
    EXPECT_THAT(memory, ::testing::ContainsRegex("fits: [0-9.]+ [KM]iB of [0-9.]+ GiB +fits: [0-9.]+ [KM]iB of [0-9.]+ GiB +│"))
        << t.text();
}

/// What finds no room is counted in a place of its own.
TEST(Inspect, CountsTheFiguresThatFindNoRoom) {
    Inspecting t(24, 80, [] { return inspect_sample("llama-cpp"); });
    t.press("wngl=2\n");
    ASSERT_TRUE(t.shows(" rows: what if ")) << t.text();
    EXPECT_NE(line_with(t, " recorded  ", " changed "), "") << t.text();
    EXPECT_NE(line_with(t, "│  and ", " more: in the details"), "") << t.text();
}

/// What does not fit is said where memory is looked at.
TEST(Inspect, SaysWhatDoesNotFit) {
    Inspecting t(30, 120, [] {
        auto store = std::make_shared<LiveStore>();
        SessionInfo session = test::session({"Vulkan0", "CPU"});
        session.facts.emplace_back("memory of Vulkan0", "5.2 GiB of 2.0 GiB (weights 5.0 GiB of 2 blocks, compute 0.2 GiB): does "
                                                        "not fit; -ngl 1 is the most that the devices hold");
        test::SampleRun run(*store, std::move(session));
        run.evaluate(test::blocks(2, 4, 2));
        return run_inspector(store, {});
    });
    t.press(">5");
    ASSERT_TRUE(t.shows("├ Vulkan0 does not fit: 5.2 GiB of 2.0 GiB ")) << t.text();
    EXPECT_TRUE(t.shows(": does not fit ")) << t.text();
    EXPECT_TRUE(t.shows("-ngl 1 is the most")) << t.text();
}

TEST_P(View, OfQueriesCountsAnswersAndQuestions) {
    open('9', "queries");
    int asked = 0, can = 0, on = 0, nodes = 0;
    const OwnedGraph& graph = *history.graph_of(plan);
    for (const TensorId id : graph.nodes) {
        const auto at = static_cast<size_t>(id);
        if (graph.tensors[at].op == Op::GET_ROWS) {
            ++nodes;
            on += plan.tensors[at].backend == 0 ? 1 : 0;
            can += source->answers(plan.graph).supports_op(0, id).yes ? 1 : 0;
        }
    }
    source->for_each(source->evaluation(plan.evaluation).first, source->evaluation(plan.evaluation).end,
                     [&](const Record& record) {
                         const auto* q = std::get_if<record::BackendQuery>(&record.fact);
                         asked += q && q->backend == 0 && static_cast<size_t>(q->tensor) < graph.tensors.size() &&
                                          graph.tensors[static_cast<size_t>(q->tensor)].op == Op::GET_ROWS
                                      ? 1
                                      : 0;
                     });
    ASSERT_GT(asked, 0);
    const std::string line =
        line_with(t, "GET_ROWS", "Vulkan0 ", " " + std::to_string(nodes) + " ", " " + std::to_string(can) + " ");
    EXPECT_NE(line.find(" " + std::to_string(on) + " "), std::string::npos) << t.text();
    t.press("/name=GET_ROWS backend=Vulkan0\n{Tab}{End}");
    ASSERT_TRUE(t.shows("┬ GET_ROWS on Vulkan0 ")) << t.text();
    if (widest()) {
        EXPECT_TRUE(t.shows("asked up to this step: " + std::to_string(asked))) << t.text();
    }
}

TEST_P(View, OfValuesSaysWhatWouldFillIt) {
    open('0', "values");
    EXPECT_TRUE(t.shows("no tensor was watched")) << t.text();
}

TEST_P(DecodeView, FollowsTheSelectionOfTheOthers) {
    open('3', "copies 7");
    t.press("/name=attn_inp_kq_mask\n{Enter}"); // its split
    ASSERT_TRUE(t.shows("┬ split 1 ")) << t.text();
    t.press("3");
    ASSERT_TRUE(t.shows("┬ Vulkan0#attn_inp_kq_mask#0 ")) << t.text();
    t.press("5");
    ASSERT_TRUE(t.shows("┬ Vulkan0#attn_inp_kq_mask#0 ")) << "where it lies: " << t.text();
    t.press("6");
    ASSERT_TRUE(t.shows("┬ copy ") && t.shows("Vulkan0#attn_inp_kq_")) << "when it was moved: " << t.text();
    t.press("4/name=rms_norm_mul kind=fusion\n");
    t.press(":tensor attn_norm-0\n4"); // a node of a group
    ASSERT_TRUE(t.shows("┬ one kernel ")) << t.text();
    t.press("6");
    ASSERT_TRUE(t.shows("┬ rms_norm_mul ")) << t.text();
    t.press("2");
    EXPECT_TRUE(t.shows("┬ split 0 ")) << t.text();
}

TEST(Inspect, OpensOnTwoTraces) {
    Terminal t(24, 80, [] { return inspect_sample("partial-offload", test::sample_path("all-cpu")); });
    EXPECT_TRUE(t.shows(" rows: diff all")) << t.text();
}

/// Samples of other kinds open in every view.
class EachSample : public ::testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Of, EachSample,
                         ::testing::Values("all-cpu", "experts-offload", "llava-1.6", "mixed-sampling", "pipeline"),
                         [](const auto& info) {
                             std::string name = info.param;
                             std::replace_if(
                                 name.begin(), name.end(), [](char c) { return c == '-' || c == '.'; }, '_');
                             return name;
                         });

TEST_P(EachSample, OpensInEveryView) {
    const std::string name = GetParam();
    History history(sample(name));
    const PlanState& plan = history.plan(history.opening());
    Inspecting t(40, 120, [name] { return inspect_sample(name); });
    t.press("2");
    ASSERT_TRUE(t.shows("├ splits " + std::to_string(plan.splits.size()) + " ")) << t.text();
    t.press("3");
    ASSERT_TRUE(t.shows(plan.copies.empty() ? "no copies" : "├ copies " + std::to_string(plan.copies.size()))) << t.text();
    t.press("4");
    ASSERT_TRUE(t.shows("├ fusion & order " + std::to_string(plan.fusions.size()) + ",")) << t.text();
    t.press("5");
    ASSERT_TRUE(t.shows("├ memory " + std::to_string(plan.placements.size()) + " ")) << t.text();
    t.press("6");
    ASSERT_TRUE(t.shows("├ timeline ")) << t.text();
    EXPECT_NE(line_with(t, "│CPU ", "█"), "") << t.text();
    t.press("7");
    ASSERT_TRUE(t.shows("├ tokens & reuse")) << t.text();
    t.press("9");
    ASSERT_TRUE(t.shows("├ queries")) << t.text();
}

TEST(Views, DrawNothingWhereThereIsNoRoomForIt) {
    Terminal t(15, 60, [] { return test::inspect_sample("partial-offload"); });
    ASSERT_TRUE(t.shows("▸"));
    t.press("5");
    ASSERT_TRUE(t.shows("├ memory ")) << t.text();
    EXPECT_EQ(t.text().find("offsets over time"), std::string::npos) << t.text();
    t.press("6");
    ASSERT_TRUE(t.shows("├ timeline ")) << t.text();
    EXPECT_EQ(t.text().find("═"), std::string::npos) << t.text(); // no lanes
}

/// Names that differ in their middle are told apart, with the panes side by side and with one alone.
TEST(Names, OfAListDifferOnASmallScreen) {
    for (const auto& [rows, cols] : {std::pair(24, 80), {20, 60}}) {
        Inspecting t(rows, cols, [] { return test::inspect_sample("partial-offload"); });
        t.press("3");
        ASSERT_TRUE(t.shows("├ copies 32")) << t.text();
        for (const char* name : {"blk.0.attn_q", "blk.0.attn_v", "blk.0.attn_k", "cache_k_l0", "cache_v_l0", "Kcur-0 (view)"}) {
            EXPECT_TRUE(t.shows(name)) << t.text();
        }
    }
}

/// The page says it once it is found, in the background; also of a cache of another program, whose settings are not known.
TEST(Story, EndsWithWhatWouldPutItElsewhere) {
    const auto says = [](const std::string& sample_name, const std::string& tensor, const std::string& text) {
        Inspecting t(60, 200, [&] { return inspect_sample(sample_name); });
        t.press(":eval 0\n:pass 5\n:explain " + tensor + "\n");
        EXPECT_TRUE(t.shows(text)) << t.text();
        t.press("{Esc}");
        EXPECT_TRUE(t.hides(text)) << t.text();
    };
    says("partial-offload", "cache_k_l0", "otherwise     on Vulkan0 with -ngl 5");
    says("llama-cpp", "cache_k_l0 (view) (permuted)",
         "otherwise     on Vulkan0 with -ngl 6 or more (3 now: block 0 of 5 is not offloaded)");
    says("all-cpu", "l_out-0", "otherwise     no setting: there is no device but the CPU");
}

TEST(Story, OfACacheLeadsToTheReasonOfItsLayerALineAQuestion) {
    Terminal t(60, 200, [] { return inspect_sample("partial-offload"); });
    ASSERT_TRUE(t.shows("q quit")) << t.text();
    t.press(":step 1200\n:tensor cache_k_l0 (view) (permuted)\n");
    ASSERT_TRUE(t.shows("┬ cache_k_l0 (view) (permuted) ")) << t.text();
    EXPECT_NE(line_with(t, "lies in CPU: block 0 of 4 is not offloaded (-ngl 3)"), "") << t.text();
    const std::string asked = line_with(t, "CPU can use CPU memory? yes");
    EXPECT_NE(asked, "") << t.text();
    EXPECT_EQ(asked.find("this operator?"), std::string::npos) << asked;
    EXPECT_NE(line_with(t, "CPU runs this operator? yes"), "") << t.text();
}

TEST(Details, NameTheMemoryOfAWeightThatDoesNotLieInItsBackendsOwn) {
    const auto shows = [](const std::string& tensor, const std::string& source) {
        Inspecting t(60, 200, [] { return inspect_sample("llama-cpp"); });
        t.press(":eval 0\n:pass 5\n:tensor " + tensor + "\n");
        EXPECT_TRUE(t.shows(source)) << t.text();
    };
    shows("Qcur-0", "blk.0.attn_q.weight (CPU) weight in Vulkan_Host");
    shows("Qcur-4", "blk.4.attn_q.weight (Vulkan0) weight ");
}

TEST(ViewsOfAnotherProgram, SayWhatWasNotTimedAndWhatTimesIt) {
    Inspecting t(60, 160, [] { return inspect_sample("llama-cpp"); });
    t.press("2");
    ASSERT_TRUE(t.shows("│time ≥ ")) << "the CPU's splits are timed: " << t.text();
    const std::string bar = line_with(t, "│time ≥ ");
    EXPECT_EQ(bar.find("▒"), std::string::npos) << bar;
    EXPECT_EQ(bar.find("█"), std::string::npos) << bar;
    t.press("4");
    EXPECT_TRUE(t.shows("├ fusion & order ?, ? apart, ")) << t.text();
    t.press("6");
    ASSERT_TRUE(t.shows("├ timeline ")) << t.text();
    EXPECT_NE(line_with(t, "│Vulkan0 ", " ? "), "") << "not the share of what was timed: " << t.text();
    EXPECT_NE(line_with(t, "Vulkan0 computing not timed,"), "") << t.text();
    EXPECT_TRUE(t.shows("--sync")) << t.text();
    EXPECT_EQ(line_with(t, "CPU not timed"), "") << "it has a time: " << t.text();
    EXPECT_EQ(line_with(t, "CPU waiting for CPU"), "") << t.text();
    EXPECT_NE(line_with(t, "CPU waiting for Vulkan0"), "") << t.text();
}

TEST(Titles, HaveTheirThousandsApart) {
    const auto large = [] {
        auto store = std::make_shared<LiveStore>();
        test::SampleRun run(*store, test::session({"Vulkan0", "CPU"}));
        run.evaluate(test::blocks(600, 4, 2));
        return store;
    };
    History history(large());
    const PlanState& state = history.plan(0);
    ASSERT_GT(state.placements.size(), 1000U);
    ASSERT_GT(state.splits.size() + state.reorders.size(), 1000U);
    Inspecting t(24, 160, [&] { return run_inspector(large(), {}); });
    t.press("5");
    EXPECT_TRUE(t.shows("├ memory " + words::count(n_of(state.placements)))) << t.text();
    t.press("2");
    EXPECT_TRUE(t.shows("├ splits " + words::count(n_of(state.splits)))) << t.text();
    t.press("4");
    EXPECT_TRUE(t.shows(words::count(n_of(state.reorders)) + " moved")) << t.text();
}

/// A recording of the last evaluations alone.
TEST(GeneratedText, ShowsWhereTokensAreNotRecorded) {
    Terminal t(24, 80, [] {
        InspectorOptions options;
        options.title = "made";
        const auto store = std::make_shared<LiveStore>();
        BoundedRecorder last(*store, {.last_evaluations = 2});
        test::MadeRun(2).record(last, 8);
        last.finish();
        return run_inspector(store, options);
    });
    ASSERT_TRUE(t.shows("q quit")) << t.text();
    t.press(">7");
    EXPECT_TRUE(t.shows("seq 0   word0 …  word6 word7")) << t.text();
    t.press("3");
    EXPECT_TRUE(t.shows("times in recorded runs") || t.shows("time in recorded runs")) << t.text();
}

} // namespace
} // namespace schedscope
