// What a verification records: read back from memory and from a file, told, exported, asked with SQL; and files from before there
// were verifications.
#include "tests/support/paths.h"
#include "tests/support/traces/perfetto_file.h"
#include "tests/support/traces/sample_run.h"
#include "traces/diff/diff.h"
#include "traces/export/export_jsonl.h"
#include "traces/export/export_perfetto.h"
#include "traces/history/accounts/values.h"
#include "traces/history/explain.h"
#include "traces/store/live_store.h"
#include "traces/store/reading/reader.h"
#include "traces/store/sqlite.h"
#include "traces/store/tee.h"
#include "traces/store/writer.h"

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include <cmath>
#include <limits>
#include <sstream>

namespace schedscope {
namespace {

using namespace test;
using nlohmann::json;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr double nan = std::numeric_limits<double>::quiet_NaN();
constexpr double infinity = std::numeric_limits<double>::infinity();

/// Two evaluations of one plan. In the first, one node agrees, one is the same, one is left out; in the second, one is beyond,
/// and one holds NaN.
class Differences : public ::testing::Test {
protected:
    void SetUp() override {
        TraceWriter writer(folder.file("t"));
        TeeRecorder tee{store.get(), &writer};
        SampleRun run(tee, session({"CPU"}));
        graph = blocks(2, 8, 1); // the same once more, to know its ids and names
        run.evaluate(blocks(2, 8, 1));
        n = graph.nodes;
        const StringId device = tee.intern("Vulkan0");
        tee.add(record::Value{n[0], 0, 4, 0, 0, 0, 3, 1.5, 4});
        tee.add(record::Value{n[0], device, 4, 0, 0, 0, 3.5, 1.625, 4.25});
        tee.add(record::Difference{n[0], 0, true, false, device, 0, 9, 1e-9, 1e-7, 0.5, 3.5, 3});
        tee.add(record::Difference{n[1], 0, true, false, device, 0, -1, 0, 5e-4, 0, 0, 0});
        tee.add(record::Difference{n[2], 0, false, false, device, tee.intern("Vulkan0 does not run it: type"), -1, nan, nan, nan,
                                   nan, nan});
        run.evaluate_again();
        tee.add(record::Difference{n[0], 0, true, true, device, 0, 0, 0.25, 1e-7, 2, 1, 3});
        tee.add(record::Difference{n[1], 0, true, true, device, tee.intern("NaN differs"), 1, infinity, 5e-4, nan, nan, 7});
        writer.close();
        file = std::make_shared<TraceReader>(folder.file("t"));
    }
    std::vector<std::shared_ptr<const RecordSource>> sources() const { return {store, file}; }
    static std::vector<std::string> verdicts(const std::vector<accounts::DifferenceRow>& rows) {
        std::vector<std::string> list;
        for (const accounts::DifferenceRow& r : rows) {
            list.push_back(r.tensor + " " + words::verdict(r.difference));
        }
        return list;
    }
    std::string name(size_t node) const { return std::string(graph.tensors[static_cast<size_t>(n[node])].name); }
    static PlanState whole_trace() {
        PlanState all;
        all.evaluation = -1;
        return all;
    }

    Folder folder;
    OwnedGraph graph;
    std::vector<TensorId> n;
    std::shared_ptr<LiveStore> store = std::make_shared<LiveStore>();
    std::shared_ptr<TraceReader> file;
};

TEST_F(Differences, AreInstantsOnATimeline) {
    for (const auto& source : sources()) {
        std::ostringstream out;
        export_perfetto(source, out);
        const PerfettoFile timeline(out.str());
        std::vector<PerfettoFile::Event> events;
        std::vector<std::string> told;
        for (const PerfettoFile::Event& e : timeline.instants) {
            if (e.category != "difference") {
                continue;
            }
            EXPECT_EQ(timeline.track_name(e), "verification");
            EXPECT_EQ(e.name, e.texts.at("verdict") + ": " + e.texts.at("node"));
            told.push_back(e.texts.at("verdict"));
            events.push_back(e);
        }
        EXPECT_THAT(told, ElementsAre("within", "equal", "skipped", "beyond", "beyond"));
        EXPECT_EQ(events[0].texts.at("node"), graph.tensors[static_cast<size_t>(n[0])].name);
        EXPECT_EQ(events[0].texts.at("op"), op_name(*graph.tensors[static_cast<size_t>(n[0])].op));
        EXPECT_THAT(events[0].texts.at("found"), HasSubstr("Vulkan0 agrees with CPU: NMSE 1e-09 of at most 1e-07"));
        EXPECT_THAT(events[2].texts.at("found"), HasSubstr("Vulkan0 does not run it: type"));
        EXPECT_THAT(events[4].texts.at("found"), HasSubstr("NaN differs"));
    }
}

TEST_F(Differences, AreReadAsTheyWereWritten) {
    for (const auto& source : sources()) {
        History history(source);
        const auto rows = accounts::differences(history, history.plan(0));
        EXPECT_THAT(verdicts(rows), ElementsAre(name(0) + " within", name(1) + " equal", name(2) + " skipped"));
        const record::Difference& d = rows[0].difference;
        EXPECT_EQ(rows[0].id, n[0]);
        EXPECT_EQ(rows[0].op, op_description(*graph.tensors[static_cast<size_t>(n[0])].op, 0));
        EXPECT_EQ(rows[0].names.device, "Vulkan0");
        EXPECT_EQ(rows[0].names.backend, "CPU");
        EXPECT_EQ(d.nmse, 1e-9);
        EXPECT_EQ(d.tolerance, 1e-7);
        EXPECT_EQ(d.max_error, 0.5);
        EXPECT_EQ(d.element, 9);
        EXPECT_EQ(d.value, 3.5);
        EXPECT_EQ(d.expected, 3);
        EXPECT_TRUE(std::isnan(rows[2].difference.nmse));
        EXPECT_EQ(rows[2].names.why, "Vulkan0 does not run it: type");
        const auto later = accounts::differences(history, history.plan(1));
        ASSERT_EQ(later.size(), 2U);
        EXPECT_TRUE(std::isinf(later[1].difference.nmse));
        EXPECT_TRUE(std::isnan(later[1].difference.max_error));
        EXPECT_TRUE(std::isnan(later[1].difference.value));
        EXPECT_EQ(accounts::differences(history, whole_trace()).size(), 5U);
    }
}

TEST_F(Differences, AreCountedWithTheFirstBeyond) {
    for (const auto& source : sources()) {
        const auto count = accounts::count_differences(*source, source->n_steps());
        EXPECT_EQ(count.compared, 4);
        EXPECT_EQ(count.skipped, 1);
        EXPECT_EQ(count.beyond, 2);
        std::vector<Record> first;
        source->read(count.first_beyond, count.first_beyond + 1, first);
        EXPECT_EQ(first.at(0).evaluation, 1);
        EXPECT_EQ(subject(first.at(0).fact), n[0]);
        EXPECT_EQ(accounts::count_differences(*source, count.first_beyond - 1).beyond, 0);
    }
}

TEST_F(Differences, BelongToTheStateOnceTheyWereRecorded) {
    for (const auto& source : sources()) {
        History history(source);
        const Step first = source->next_of(-1, fact_bit<record::Difference>());
        EXPECT_TRUE(history.state_at(first - 1).differences.empty());
        EXPECT_EQ(history.state_at(first).differences.size(), 1U);
        EXPECT_EQ(history.state_at(first + 1).differences.size(), 2U);
        EXPECT_TRUE(history.state_at(history.evaluation(1).first).differences.empty());
    }
}

TEST_F(Differences, AreToldInTheTensorsStoryOfTheirEvaluation) {
    History history(file);
    const auto told = [&](EvaluationId evaluation, size_t node) {
        std::string text;
        for (const StoryLine& line : explain(history, evaluation, n[node]).lines) {
            text += line.kind == StoryKind::difference || line.kind == StoryKind::value ? line.text + ";" : "";
        }
        return text;
    };
    const Shape& ne = *graph.tensors[static_cast<size_t>(n[0])].ne;
    const std::string place = "[" + std::to_string(9 % ne[0]) + ", " + std::to_string(9 / ne[0]) + "]";
    EXPECT_EQ(told(0, 0), "from 0 to 3, mean 1.5, norm 4 of 4 elements;"
                          "computed once more by Vulkan0: from 0 to 3.5, mean 1.625, norm 4.25 of 4 elements;"
                          "Vulkan0 agrees with CPU: NMSE 1e-09 of at most 1e-07; 0.5 apart at most, at " +
                              place + ": 3.5 instead of 3;");
    EXPECT_EQ(told(0, 1), "Vulkan0 agrees with CPU in every element;");
    EXPECT_EQ(told(0, 2), "not compared: Vulkan0 does not run it: type;");
    EXPECT_THAT(told(1, 0), HasSubstr("Vulkan0 differs from CPU beyond tolerance: NMSE 0.25 of at most 1e-07; 2 apart at most"));
    EXPECT_THAT(told(1, 1),
                HasSubstr("Vulkan0 differs from CPU beyond tolerance: NaN differs, first at [1, 0]: nan instead of 7"));
}

TEST_F(Differences, AreLinesOfJson) {
    std::ostringstream out;
    export_jsonl(*file, out);
    std::istringstream lines(out.str());
    std::vector<json> found;
    for (std::string line; std::getline(lines, line);) {
        if (json record = json::parse(line); record["kind"] == "difference") {
            found.push_back(std::move(record));
        }
    }
    ASSERT_EQ(found.size(), 5U);
    EXPECT_EQ(found[0]["tensor_name"], name(0));
    EXPECT_EQ(found[0]["device"], "Vulkan0");
    EXPECT_EQ(found[0]["backend"], "CPU");
    EXPECT_EQ(found[0]["beyond"], false);
    EXPECT_EQ(found[0]["element"], 9);
    EXPECT_EQ(found[3]["beyond"], true);
    EXPECT_TRUE(found[4]["nmse"].is_null());
    EXPECT_EQ(found[4]["why"], "NaN differs");
}

TEST_F(Differences, AreAViewForSql) {
    sqlite::Database database(folder.file("t"), sqlite::Database::Mode::read);
    sqlite::Statement row(database,
                          "SELECT name, op, device, backend, evaluation, nmse FROM differences WHERE beyond ORDER BY step");
    ASSERT_TRUE(row.step());
    EXPECT_EQ(row.bytes(0), name(0));
    EXPECT_EQ(row.bytes(2), "Vulkan0");
    EXPECT_EQ(row.bytes(3), "CPU");
    EXPECT_EQ(row.integer(4), 1);
    EXPECT_EQ(row.real(5), 0.25);
    EXPECT_TRUE(row.step());
    EXPECT_FALSE(row.step());
}

/// The trace as a program of 3.2 would have written it: without the table and the column.
TEST_F(Differences, TheSamplesVerifiedNothingAndAreReadWithoutANote) {
    for (const char* sample : {"all-cpu", "partial-offload", "experts-offload", "mixed-sampling", "pipeline"}) {
        const auto reader = std::make_shared<TraceReader>(paths::sample(sample));
        EXPECT_THAT(reader->notes(), ::testing::IsEmpty()) << sample;
        History history(reader);
        EXPECT_TRUE(accounts::differences(history, whole_trace()).empty());
        EXPECT_GT(history.plan(0).tensors.size(), 0U);
    }
}

/// The same run with another device, on which the last node is fine and the first is not.
TEST_F(Differences, AreComparedBetweenTracesByTheirVerdicts) {
    LiveStore other;
    SampleRun run(other, session({"CPU"}));
    run.evaluate(blocks(2, 8, 1));
    const StringId device = other.intern("Vulkan1");
    other.add(record::Difference{n[0], 0, true, true, device, 0, 9, 0.5, 1e-7, 0.5, 3.5, 3});
    other.add(record::Difference{n[1], 0, true, false, device, 0, 4, 1e-8, 5e-4, 1, 1, 2}); // equal before: no other verdict
    other.add(record::Difference{n[2], 0, true, false, device, 0, -1, 0, 1e-7, 0, 0, 0});
    run.evaluate_again();
    other.add(record::Difference{n[0], 0, true, true, device, 0, 0, 0.125, 1e-7, 2, 1, 3});
    History a(store), b(std::shared_ptr<const RecordSource>(std::shared_ptr<const RecordSource>(), &other));
    std::vector<std::string> found;
    for (const diff::TraceDifference& d : diff::compare(a, b).differences) {
        const auto text = [](const diff::DiffValue& value) {
            const auto* string = std::get_if<std::string>(&value);
            return string == nullptr ? std::string("-") : *string;
        };
        EXPECT_EQ(d.what, diff::What::verdict) << d.subject;
        found.push_back(std::to_string(d.eval_a) + " " + d.subject + ": " + text(d.a) + ", " + text(d.b) + " (" + d.note + ")");
    }
    EXPECT_THAT(found, ::testing::UnorderedElementsAre("0 " + name(0) + ": within tolerance, beyond tolerance (NMSE 1e-09 → 0.5)",
                                                       "0 " + name(2) +
                                                           ": not compared: Vulkan0 does not run it: type, within tolerance ()",
                                                       "1 " + name(1) + ": beyond tolerance, - ()"));
}

TEST_F(Differences, OfOneTraceAloneAreNoDifferenceBetweenTwo) {
    LiveStore other;
    SampleRun run(other, session({"CPU"}));
    run.evaluate(blocks(2, 8, 1));
    run.evaluate_again();
    History a(store), b(std::shared_ptr<const RecordSource>(std::shared_ptr<const RecordSource>(), &other));
    EXPECT_TRUE(diff::compare(a, b).identical());
}

TEST(Place, CountsAsTheShapeDoes) {
    EXPECT_EQ(words::place(0, {4, 1, 1, 1}), "[0]");
    EXPECT_EQ(words::place(9, {4, 3, 1, 1}), "[1, 2]");
    EXPECT_EQ(words::place(9, {4, 1, 3, 1}), "[1, 0, 2]");
    EXPECT_EQ(words::place(23, {2, 3, 1, 4}), "[1, 2, 0, 3]");
    EXPECT_EQ(words::place(99, {2, 3, 1, 1}), "[1, 49]") << "beyond the shape: a damaged trace";
    EXPECT_EQ(words::place(9, {0, 0, 0, 0}), "9") << "the shape is not known";
}

} // namespace
} // namespace schedscope
