// The query language by example (tests/data/queries.txt) in the report, opened in a browser, and on the command line.
#include "tests/inspector/cli/harness/recorded.h"
#include "tests/inspector/cli/harness/story.h"
#include "tests/inspector/cli/pages/browser.h"
#include "tests/support/traces/made_trace.h"
#include "tests/support/traces/query_cases.h"
#include "traces/store/reading/reader.h"
#include "traces/store/writer.h"
#include "viz/query/describer.h"

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include <cmath>
#include <map>
#include <set>

namespace schedscope::test {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

/// What the page of a trace says to each query that is typed into its box: what stands beside it, and the names of the rows left.
json answers(const std::string& trace, const json& queries) {
    const Folder folder;
    EXPECT_EQ(run({"export", trace, "--html", folder / "report.html"}).code, 0);
    std::string page = read_bytes(folder / "report.html");
    page.insert(page.rfind("</body>"),
                "<pre id=\"answers\"></pre><script>{ const box = document.getElementById('search');"
                "document.getElementById('answers').textContent = JSON.stringify(" +
                    queries.dump() +
                    ".map(query => { box.value = query; box.dispatchEvent(new Event('input'));"
                    "const table = [...document.querySelectorAll('#view table')].at(-1);" // a drawing may be a table, too
                    "const name = [...table.querySelectorAll('th')].findIndex(h => h.textContent === 'name');"
                    "return [document.getElementById('found').textContent,"
                    "[...table.querySelectorAll('tbody tr')].map(r => r.children[name].textContent)]; })); }</script>");
    write_bytes(folder / "report.html", page);
    const BrowserPage shown = open_page(folder / "report.html", "eval=0&view=nodes", {{"--disable-ipc-flooding-protection"}});
    EXPECT_EQ(shown.complaints, "");
    const size_t from = shown.text.find("[[\""), end = shown.text.rfind("]]]");
    EXPECT_NE(from, std::string::npos) << shown.text.substr(0, 2000);
    return from == std::string::npos ? json::array() : json::parse(shown.text.substr(from, end + 3 - from));
}

json queries_of(const std::vector<QueryCase>& cases) {
    json queries = json::array();
    for (const QueryCase& c : cases) {
        queries.push_back(c.query);
    }
    return queries;
}

class QueryCases : public ::testing::Test {
protected:
    QueryCases() {
        TraceWriter writer(trace);
        MadeRun(4).record(writer, 3);
        writer.close();
    }
    Folder folder;
    std::string trace = folder / "made.trace";
};

TEST_F(QueryCases, FilterTheTablesOfTheReport) {
    NEEDS_BROWSER();
    const std::vector<QueryCase> cases = query_cases("tensors");
    const json told = answers(trace, queries_of(cases));
    ASSERT_EQ(told.size(), cases.size());
    for (size_t i = 0; i < cases.size(); ++i) {
        const std::string rows = std::to_string(cases[i].number) + (cases[i].number == 1 ? " row of " : " rows of ");
        EXPECT_THAT(told[i][0].get<std::string>(), ::testing::StartsWith(rows)) << cases[i].query;
        EXPECT_EQ(told[i][1].size(), static_cast<size_t>(cases[i].number)) << cases[i].query;
        if (cases[i].number > 0) {
            EXPECT_THAT(told[i][1], ::testing::Contains(json(cases[i].what))) << cases[i].query;
        }
    }
}

TEST_F(QueryCases, MistakesStandBesideTheBoxOfTheReport) {
    NEEDS_BROWSER();
    const std::vector<QueryCase> cases = query_cases("mistakes");
    const json told = answers(trace, queries_of(cases));
    ASSERT_EQ(told.size(), cases.size());
    for (size_t i = 0; i < cases.size(); ++i) {
        EXPECT_EQ(told[i][0], cases[i].what) << cases[i].query;
    }
}

/// Traces of real runs, each field of which has its values: the page finds what C++ finds.
class QueriesOfSamples : public ::testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Sample, QueriesOfSamples,
                         ::testing::Values("partial-offload", "experts-offload", "mixed-sampling", "pipeline"),
                         [](const auto& info) { return as_test_name(info.param); });

TEST_P(QueriesOfSamples, TheReportFindsWhatTheInspectorFinds) {
    NEEDS_BROWSER();
    using query::Field;
    const std::string trace = paths::sample(GetParam());
    History history(std::make_shared<TraceReader>(trace));
    query::Describer describer(history);
    const PlanState state = history.plan(0);
    std::vector<TensorId> ids;
    query::Facts all;
    std::map<Field, std::set<std::string>> values;
    for (TensorId id = 0; id < n_of(state.tensors); ++id) {
        describer.tensor(state, id, all);
        if (std::isnan(all.number(Field::id))) {
            continue; // a number that no copy has
        }
        ids.push_back(id);
        for (size_t f = 0; f < query::n_text_fields; ++f) {
            const auto field = static_cast<Field>(f);
            if (const std::string value(all.text(field)); !value.empty() && values[field].size() < 12) {
                values[field].insert(value);
            }
        }
        for (const Field field : {Field::bytes, Field::time, Field::split, Field::node, Field::id}) {
            if (const double value = all.number(field); !std::isnan(value) && values[field].size() < 6) {
                values[field].insert(std::to_string(static_cast<int64_t>(value)));
            }
        }
    }
    std::vector<QueryCase> cases;
    for (const auto& [field, some] : values) {
        for (const std::string& value : some) {
            for (const char* sign : {"=", "!="}) {
                QueryCase c{std::string(field_name(field)) + sign + '"' + value + '"', 0, ""};
                const query::Query query = query::Query::parse(c.query);
                query::Facts facts(query);
                for (const TensorId id : ids) {
                    describer.tensor(state, id, facts);
                    c.number += query.matches(facts) ? 1 : 0;
                }
                cases.push_back(c);
            }
        }
    }
    ASSERT_GT(cases.size(), 100U);
    const json told = answers(trace, queries_of(cases));
    ASSERT_EQ(told.size(), cases.size());
    for (size_t i = 0; i < cases.size(); ++i) {
        EXPECT_THAT(told[i][0].get<std::string>(),
                    ::testing::StartsWith(std::to_string(cases[i].number) + (cases[i].number == 1 ? " row of " : " rows of ")))
            << cases[i].query;
    }
}

TEST(WatchedQueries, MistakesAreToldBeforeAnythingIsLoaded) {
    int told = 0;
    for (const QueryCase& c : query_cases("mistakes")) {
        const bool later = c.query.starts_with("backend"); // which there are is known once they are made
        const bool of_a_run = c.what.find("is no pass") != std::string::npos || c.query.starts_with("from");
        if (later || of_a_run) {
            continue;
        }
        const Outcome outcome = run({"run", "-m", "nowhere.gguf", "--watch", c.query});
        EXPECT_EQ(outcome.code, 2) << c.query;
        EXPECT_EQ(outcome.err, "schedscope: --watch " + c.query + ": query: " + c.what + "\n");
        ++told;
    }
    EXPECT_GT(told, 20);
}

TEST(WatchedQueries, ABackendThatIsNotThereIsTold) {
    const Outcome outcome =
        run({"run", "-m", model(), "--tokens", "1", "-n", "1", "--device", "cpu", "--watch", "backend=Vulkan7"});
    EXPECT_EQ(outcome.code, 2);
    EXPECT_EQ(outcome.err, "schedscope: --watch backend=Vulkan7: query: 'Vulkan7' is no backend; there are CPU\n");
}

/// Each query watches the tensors that the inspector's filter finds in the trace.
TEST(WatchedQueries, WatchWhatTheInspectorFinds) {
    for (const char* text : {"op=SOFT_MAX|ROPE", "type=f16", "kind=leaf type=i32", "backend=CPU name~kq_soft",
                             "cause=1.wgt0 name~ffn", "bytes>=4KiB bytes<8KiB", "node=12", "node>3 node<7", "id=12", "id<2",
                             "split=0 name~norm op=RMS_NORM", "name=\"kq_soft_max-0\"", "kq_soft_max-1|kq_soft_max-2"}) {
        const Recorded recorded({"--device", "cpu", "-fa", "off", "--no-fusion", "--watch", text}, 5);
        ASSERT_EQ(recorded.outcome().code, 0) << recorded.outcome().err;
        History history(std::make_shared<TraceReader>(recorded.path()));
        query::Describer describer(history);
        const PlanState state = history.plan(0);
        const query::Query query = query::Query::parse(text);
        query::Facts facts(query);
        std::set<int> found, watched;
        for (TensorId id = 0; id < n_of(state.tensors); ++id) {
            describer.tensor(state, id, facts);
            if (query.matches(facts)) {
                found.insert(id);
            }
        }
        const json values = recorded.json("show", {"--what", "values", "--eval", "0"})["values"];
        for (const json& value : values) {
            watched.insert(value["id"].get<int>());
        }
        ASSERT_FALSE(watched.empty()) << text;
        EXPECT_EQ(watched, found) << text;
    }
}

} // namespace
} // namespace schedscope::test
