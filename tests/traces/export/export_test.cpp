// Records of every kind, with made-up numbers, in the formats that other programs read.
#include "tests/support/paths.h"
#include "tests/support/traces/made_trace.h"
#include "tests/support/traces/perfetto_file.h"
#include "tests/support/traces/records_of_each_kind.h"
#include "tests/support/traces/sample_run.h"
#include "traces/export/export_jsonl.h"
#include "traces/export/export_perfetto.h"
#include "traces/store/live_store.h"

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include <fstream>
#include <map>
#include <set>
#include <sstream>

namespace schedscope {
namespace {

using namespace test;

/// Evaluations of which nothing makes sense but that each number alone is possible: slices that overlap, that end before they
/// begin, in no order.
std::shared_ptr<LiveStore> made_up(uint32_t seed, int rounds) {
    auto store = std::make_shared<LiveStore>();
    const SessionInfo info = session({"Vulkan0", "CPU"});
    store->session(info);
    const OwnedGraph graph = blocks(2, 4, 2);
    CapabilityTable table;
    fill_table(table, info, Answers(info, graph), static_cast<int32_t>(graph.tensors.size()));
    store->graph(0, graph.view(), table);
    EachKind kinds(*store, seed, static_cast<int32_t>(graph.tensors.size()), static_cast<int32_t>(graph.nodes.size()), 2);
    kinds.add(rounds);
    return store;
}

TEST(ExportJsonl, HasEveryFieldOfEveryKind) {
    const auto store = made_up(3, 2);
    std::ostringstream out;
    export_jsonl(*store, out);
    std::map<std::string, std::set<std::string>> fields; // by kind
    std::istringstream lines(out.str());
    for (std::string text; std::getline(lines, text);) {
        const auto object = nlohmann::json::parse(text);
        for (const auto& [name, value] : object.items()) {
            fields[object.at("kind")].insert(name);
        }
    }
    EXPECT_EQ(fact_name(record::CopyMade{}), "copy_made"); // named as what happened, not as its table
    EXPECT_EQ(fact_name(record::SplitRun{}), "split_run");
    for_each_kind([&]<typename T>(size_t) {
        const std::string kind(fact_name(Fact(T{})));
        for_each_field<T>([&](const auto& f) {
            const std::string name = std::string_view(f.name) == "kind" ? "graph_kind" : f.name;
            EXPECT_TRUE(fields[kind].contains(name)) << kind << ' ' << name;
            if (f.meaning == Meaning::tensor) {
                for (const char* said : {"_name", "_op", "_type", "_ne"}) {
                    EXPECT_TRUE(fields[kind].contains(name + said)) << kind << ' ' << name << said;
                }
            }
        });
    });
}

TEST(ExportJsonl, SaysOfEachTensorWhatItIsAndOfACopyWhatItHolds) {
    LiveStore store;
    MadeRun(4).record(store, 1);
    std::ostringstream out;
    export_jsonl(store, out);
    std::istringstream lines(out.str());
    std::map<std::string, nlohmann::json> assigned, copied; // by name
    for (std::string text; std::getline(lines, text);) {
        const auto object = nlohmann::json::parse(text);
        if (object["kind"] == "assign") {
            assigned[object["tensor_name"]] = object;
        } else if (object["kind"] == "copy_made") {
            copied[object["copy_name"]] = object;
        }
    }
    EXPECT_EQ(assigned["q-0"]["tensor_op"], "MUL_MAT");
    EXPECT_EQ(assigned["q-0"]["tensor_type"], "f32");
    EXPECT_EQ(assigned["embd"]["tensor_ne"], nlohmann::json({512, 16, 1, 1}));
    ASSERT_FALSE(copied.empty());
    for (const auto& [name, copy] : copied) {
        EXPECT_EQ(copy["copy_op"], nullptr) << copy;
        EXPECT_EQ(copy["copy_type"], copy["original_type"]) << copy;
        EXPECT_EQ(copy["copy_ne"], copy["original_ne"]) << copy;
    }
}

TEST(ExportJsonl, IsDescribedWithEveryTableAndKind) {
    std::ifstream file(paths::source("traces/SCHEMA.md"));
    std::stringstream text;
    text << file.rdbuf();
    const std::string schema = text.str(), lines = schema.substr(schema.find("## As lines of JSON"));
    for_each_kind([&]<typename T>(size_t) {
        const std::string kind(fact_name(Fact(T{}))), table(Kind<T>::table);
        EXPECT_NE(schema.find("`" + table + "`"), std::string::npos) << table;
        if (kind != table) {
            EXPECT_NE(lines.find("`" + kind + "` (`" + table + "`)"), std::string::npos) << kind;
        }
    });
}

TEST(ExportPerfetto, OfAnyRecordsNestsAndKeepsEveryTime) {
    for (uint32_t seed = 1; seed <= 20; ++seed) {
        SCOPED_TRACE(seed);
        const auto store = made_up(seed, 50);
        std::ostringstream out;
        export_perfetto(store, out);
        const PerfettoFile file(out.str()); // throws for what doesn't nest, or falls
        std::multiset<std::pair<int64_t, int64_t>> there, expected;
        for (const PerfettoFile::Event& e : file.slices) {
            if (e.category == "kernel" || e.category == "fused kernel") {
                there.emplace(e.start_ns, e.end_ns);
            }
        }
        store->for_each(0, store->n_steps(), [&](const Record& r) {
            if (const auto* f = std::get_if<record::Execute>(&r.fact); f != nullptr && f->backend != no_backend) {
                const int64_t start = std::max<int64_t>(f->start_ns, 0);
                expected.emplace(start, std::max(start, f->end_ns));
            }
        });
        EXPECT_FALSE(expected.empty());
        EXPECT_EQ(there, expected);
    }
}

TEST(ExportPerfetto, OfNothingIsAProcessWithoutEvents) {
    const auto store = std::make_shared<LiveStore>();
    store->session(session({"CPU"}));
    std::ostringstream out;
    export_perfetto(store, out);
    const PerfettoFile file(out.str());
    EXPECT_TRUE(file.slices.empty() && file.instants.empty() && file.counts.empty());
    EXPECT_FALSE(file.tracks.empty());
}

} // namespace
} // namespace schedscope
