#include "traces/history/accounts/memory.h"
#include "traces/history/find_tensor.h"
#include "viz/report/report.h"

#include "runtime/error.h"
#include "tests/viz/recorded.h"
#include "traces/history/words/story_words.h"
#include "viz/tables/copies.h"
#include "viz/tables/memory.h"
#include "viz/tables/passes.h"
#include "viz/tables/splits.h"
#include "viz/tables/table_json.h"
#include "viz/tables/timeline.h"

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

namespace schedscope {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;
using ::testing::Not;

/// The data as the page's script reads them.
json data_of(const std::string& report) {
    const std::string open = "<script type=\"application/json\" id=\"data\">";
    const size_t first = report.find(open) + open.size();
    return json::parse(report.substr(first, report.find("</script>", first) - first));
}

class Report : public ::testing::Test {
protected:
    Sketch sketch = llama(4, 3);
    std::shared_ptr<LiveStore> store = recorded(sketch);
    History history{store};
    ReportOptions options;
};

TEST_F(Report, ThePassesLeadToThePlan) {
    const json data = data_of(make_report(history, options));
    const json& plan = data["plans"][0];
    const PlanState& state = history.plan(0);
    ASSERT_EQ(plan["tensors"].size(), state.tensors.size());
    std::vector<json> now(state.tensors.size(), json(nullptr));
    for (const json& pass : plan["passes"]) {
        for (const json& change : pass["changes"]) {
            now[change[0].get<size_t>()] = change;
        }
    }
    for (size_t id = 0; id < now.size(); ++id) {
        const TensorState& tensor = state.tensors[id];
        if (tensor.cause == Cause::none && tensor.backend == no_backend) {
            EXPECT_TRUE(now[id].is_null());
            continue;
        }
        EXPECT_EQ(now[id][1], tensor.backend);
        EXPECT_EQ(data["texts"][now[id][2].get<size_t>()], cause_name(*tensor.cause, tensor.source));
        EXPECT_EQ(now[id][3], tensor.by);
    }
    EXPECT_EQ(plan["copies"].size(), state.copies.size());
}

TEST_F(Report, TellsTheStoriesInTheWordsOfExplain) {
    const json data = data_of(make_report(history, options));
    const PlanState& state = history.plan(0);
    for (const char* name : {"norm-3", "Qcur-0", "result_output"}) {
        const TensorId tensor = find_tensors(history, state, name).at(0);
        const Story story = explain(history, 0, tensor);
        const json& told = data["plans"][0]["stories"][std::to_string(tensor)];
        ASSERT_EQ(told[1].size(), story.steps.size()) << name;
        for (size_t i = 0; i < story.steps.size(); ++i) {
            EXPECT_EQ(told[1][i][0], story.steps[i].step);
            EXPECT_EQ(data["texts"][told[1][i][2].get<size_t>()], words::decided(history, state, story.steps[i]));
            EXPECT_EQ(told[1][i][3].size(), story.steps[i].asked.size());
        }
        EXPECT_EQ(told[2].size(), story.lines.size());
    }
}

TEST_F(Report, HasEveryViewLaidOut) {
    const json data = data_of(make_report(history, options));
    for (const char* view : {"splits", "layers", "nodes", "memory"}) {
        const json& picture = data["pictures"][data["plans"][0]["pictures"][view].get<size_t>()];
        EXPECT_GT(picture["nodes"].size(), 3U) << view;
    }
    const json& nodes = data["pictures"][data["plans"][0]["pictures"]["nodes"].get<size_t>()];
    std::set<int64_t> drawn;
    for (const json& node : nodes["nodes"]) {
        drawn.insert(node.value("t", -1));
    }
    for (const TensorId node : history.plan(0).order) {
        EXPECT_EQ(drawn.count(node), 1U) << node;
    }
    EXPECT_EQ(data["left_out"].size(), 0U);
}

TEST_F(Report, FetchesNothing) {
    const std::string report = make_report(history, options);
    for (const char* outside :
         {"src=", "href=", "url(", "@import", "fetch(", "XMLHttpRequest", "import(", "innerHTML", "eval("}) {
        EXPECT_THAT(report, Not(HasSubstr(outside)));
    }
    EXPECT_THAT(report, HasSubstr("default-src 'none'"));
}

/// Names come from files that strangers made.
TEST(ReportOfHostileNames, NothingBecomesMarkup) {
    const std::string names[] = {"</script><script>alert(1)</script>",
                                 "<!--<script>",
                                 "]]>&amp;\"'\\",
                                 "a\"b'c`${d}",
                                 "\xFF\xFE broken",
                                 "line\nbreak\u2028",
                                 "<img onerror=alert(1)>-3",
                                 "@DATA@",
                                 "%s%n\x01"};
    Sketch sketch;
    TensorId last = sketch.leaf("<b>in", {8, 4}, 1, flag_input);
    for (const std::string& name : names) {
        last = sketch.add(name, Op::SCALE, {8, 4}, 0, {last});
    }
    sketch.session.facts = {{"model", "</title><script>alert(2)</script>.gguf"}};
    History history(recorded(sketch));
    ReportOptions options;
    options.trace = "</script>.trace";
    const std::string report = make_report(history, options);
    EXPECT_THAT(report, Not(HasSubstr("alert(1)</")));
    EXPECT_THAT(report, Not(HasSubstr("<script>alert")));
    EXPECT_THAT(report, Not(HasSubstr("<img")));
    const json data = data_of(report);
    EXPECT_EQ(data["trace"], "</script>.trace");
    const auto& texts = data["texts"];
    for (const std::string& name : names) {
        if (name[0] != '\xFF') { // which is no text: shown as such
            EXPECT_NE(std::find(texts.begin(), texts.end(), json(name)), texts.end()) << name;
        }
    }
}

TEST_F(Report, SaysWhatItLeavesOut) {
    options.max_events = 0;
    options.max_stories = 10;
    options.max_pictures = 1;
    const json data = data_of(make_report(history, options));
    ASSERT_EQ(data["plans"].size(), 1U);
    EXPECT_THAT(data["left_out"].dump(), HasSubstr("schedscope explain"));
    EXPECT_THAT(data["left_out"].dump(), HasSubstr("3 pictures: schedscope dot"));
    EXPECT_THAT(data["left_out"].dump(), HasSubstr("1 evaluation of 2"));
    EXPECT_EQ(data["plans"][0]["stories"].size(), 0U);
}

TEST_F(Report, ALayoutThatFailsLeavesOutItsPictureOnly) {
    options.layout.layout_command = {"/proc/self/exe", "--crashing-child"};
    const json data = data_of(make_report(history, options));
    EXPECT_EQ(data["pictures"].size(), 0U);
    EXPECT_THAT(data["left_out"].dump(), HasSubstr("Graphviz crashed"));
    EXPECT_GT(data["plans"][0]["tensors"].size(), 0U);
}

/// What Graphviz is given, counted, of a report of three plans that look alike.
class ReportOfAlikePlans : public ::testing::Test {
protected:
    Sketch sketch = llama(4, 3);
    History history{recorded(sketch, 3)};
    ReportOptions options;
    int layouts = 0;
    void SetUp() override {
        options.progress = [this](const std::string& what) { layouts += what.starts_with("laying out ") ? 1 : 0; };
    }
};

TEST_F(ReportOfAlikePlans, ShareTheirPictures) {
    const json data = data_of(make_report(history, options));
    ASSERT_EQ(data["plans"].size(), 3U);
    EXPECT_EQ(layouts, 4);
    EXPECT_EQ(data["plans"][0]["pictures"], data["plans"][2]["pictures"]);
}

TEST_F(ReportOfAlikePlans, ALayoutThatFailsIsTriedOnce) {
    options.layout.layout_command = {"/proc/self/exe", "--crashing-child"};
    const json data = data_of(make_report(history, options));
    ASSERT_EQ(data["plans"].size(), 3U);
    EXPECT_EQ(layouts, 4);
    EXPECT_EQ(data["pictures"].size(), 0U);
    EXPECT_THAT(data["left_out"].dump(), HasSubstr("Graphviz crashed"));
}

TEST_F(ReportOfAlikePlans, LayoutsThatFailCountToo) {
    options.layout.layout_command = {"/proc/self/exe", "--crashing-child"};
    options.max_pictures = 2;
    const json data = data_of(make_report(history, options));
    EXPECT_EQ(layouts, 2);
    EXPECT_THAT(data["left_out"].dump(), HasSubstr("6 pictures: schedscope dot")); // two views of each plan
}

TEST_F(ReportOfAlikePlans, SayWhyEachWasPlannedAnew) {
    const json data = data_of(make_report(history, options));
    EXPECT_EQ(data["evaluations"][0]["failed_check"], "");
    EXPECT_EQ(data["evaluations"][1]["failed_check"], "another graph");
    EXPECT_EQ(data["evaluations"][1]["sequences"], 1);
    EXPECT_EQ(data["evaluations"][1]["outputs"], 1);
}

/// What a cell of the report's data says, as JSON has it.
json value_of(const json& data, const json& column, const json& cell) {
    const std::string unit = column["unit"];
    if (cell.is_null() || cell.is_string()) {
        return nullptr;
    }
    if (unit == "backend") {
        return data["backends"][cell.get<size_t>()]["name"];
    }
    return unit == "text" && cell.is_number() ? data["texts"][cell.get<size_t>()] : cell;
}

TEST_F(Report, TablesSayWhatJsonSays) {
    const json data = data_of(make_report(history, options));
    const auto expect_same = [&](const tables::Table& table, const json& rows) {
        const json& columns = data["columns"][std::string(table.key())];
        const json expected = tables::json_of(table);
        ASSERT_EQ(rows.size(), expected.size()) << table.key();
        for (size_t row = 0; row < rows.size(); ++row) {
            for (size_t i = 0; i < columns.size(); ++i) {
                const std::string key = columns[i]["key"], unit = columns[i]["unit"];
                if (!key.empty() && unit != "rows" && unit != "names" && unit != "words") {
                    EXPECT_EQ(value_of(data, columns[i], rows[row][i + 3]), expected[row][key]) << table.key() << '.' << key;
                }
            }
        }
    };
    const PlanState state = history.plan(0);
    tables::BuffersTable buffers(history);
    buffers.update(state, accounts::memory(history, state).memory);
    expect_same(buffers, data["plans"][0]["tables"]["memory"]);
    tables::PassesTable passes(history);
    passes.update(state);
    expect_same(passes, data["plans"][0]["tables"]["passes"]);
    const json& of_evaluation = data["evaluations"][0]["tables"];
    tables::SplitsTable splits(history);
    splits.update(state);
    ASSERT_FALSE(of_evaluation["splits"].empty());
    expect_same(splits, of_evaluation["splits"]);
    tables::CopiesTable copies(history);
    copies.update(state);
    expect_same(copies, of_evaluation["copies"]);
    tables::TimelineTable timeline(history);
    timeline.update(state);
    expect_same(timeline, of_evaluation["kernels"]);
}

TEST_F(Report, CancellingEndsIt) {
    options.layout.cancelled = [] { return true; };
    EXPECT_THROW(make_report(history, options), Error);
}

/// The palette has fewer colours than there may be devices.
TEST(ReportOfManyDevices, AShapeHasItsBackendAndNotAnotherOfItsColour) {
    Sketch sketch({"Vulkan0", "Vulkan1", "Vulkan2", "Vulkan3", "Vulkan4", "Vulkan5", "Vulkan6", "CPU"});
    constexpr BackendId first = 0, seventh = 6;
    const TensorId in = sketch.leaf("in", {64, 16}, 7, flag_input);
    const TensorId a = sketch.add("a", Op::MUL_MAT, {64, 16}, first, {sketch.weight("a.weight", {64, 64}, first), in});
    sketch.add("b", Op::MUL_MAT, {64, 16}, seventh, {sketch.weight("b.weight", {64, 64}, seventh), a});
    History history(recorded(sketch));
    const Palette palette(history.session());
    ASSERT_EQ(palette[first].fill, palette[seventh].fill);
    const json data = data_of(make_report(history, {}));
    const PlanState& state = history.plan(0);
    ASSERT_EQ(state.tensors[static_cast<size_t>(find_tensors(history, state, "b").at(0))].backend, seventh);
    for (const char* view : {"nodes", "memory"}) {
        int compared = 0;
        for (const json& node : data["pictures"][data["plans"][0]["pictures"][view].get<size_t>()]["nodes"]) {
            if (node.contains("t")) {
                EXPECT_EQ(node["b"], state.tensors[node["t"].get<size_t>()].backend) << view << node;
                ++compared;
            }
        }
        EXPECT_GE(compared, 2) << view;
    }
    std::set<int> areas, splits;
    for (const json& area : data["pictures"][data["plans"][0]["pictures"]["nodes"].get<size_t>()]["areas"]) {
        areas.insert(area["b"].get<int>());
    }
    for (const json& node : data["pictures"][data["plans"][0]["pictures"]["splits"].get<size_t>()]["nodes"]) {
        splits.insert(node["b"].get<int>());
    }
    EXPECT_EQ(areas, (std::set<int>{first, seventh}));
    EXPECT_EQ(splits, (std::set<int>{first, seventh, 7})); // 7: inputs that lie there
}

TEST(ReportOfMany, ALargePlanHasLayersAndNoNodes) {
    Sketch sketch = llama(100, 90);
    History history(recorded(sketch));
    const json data = data_of(make_report(history, {}));
    EXPECT_EQ(data["plans"][0]["pictures"].count("nodes"), 0U);
    EXPECT_EQ(data["plans"][0]["pictures"].count("layers"), 1U);
    EXPECT_THAT(data["left_out"].dump(), HasSubstr("more than 2,000 nodes"));
}

TEST(ReportOfNothing, IsAnError) {
    History history(std::make_shared<LiveStore>());
    EXPECT_THROW(make_report(history, {}), Error);
}

} // namespace
} // namespace schedscope
