// The report of a run whose names somebody chose to become markup or script. An input is the names: see hostile_texts. The page
// is the one of a harmless run but for the data that is embedded as JSON, in which nothing can end the element that it stands in,
// and the names are in it as they were recorded.

#include "runtime/error.h"
#include "tests/fuzz/small_trace.h"
#include "tests/fuzz/strict_html.h"
#include "tests/fuzz/verdict.h"
#include "tests/support/traces/hostile_run.h"
#include "traces/history/history.h"
#include "traces/store/live_store.h"
#include "traces/store/reading/reader.h"
#include "traces/store/writer.h"
#include "viz/report/report.h"

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace schedscope::fuzz {

namespace {

using nlohmann::json;

/// Through a trace file, as users have it, or straight from memory, which is faster.
std::shared_ptr<const RecordSource> recorded(const std::vector<std::string>& texts, bool in_a_file) {
    if (!in_a_file) {
        auto store = std::make_shared<LiveStore>();
        test::record_hostile_run(*store, texts);
        return store;
    }
    const std::string path = scratch_folder() + "/hostile";
    TraceWriter writer(path);
    test::record_hostile_run(writer, texts);
    writer.close();
    return std::make_shared<TraceReader>(path);
}

std::string report_of(History& history, const std::string& name) {
    ReportOptions options;
    options.trace = name;
    options.max_pictures = 0; // those are laid out by another program
    return make_report(history, options);
}

struct ParsedPage {
    std::vector<Element> elements;
    json data;
};

/// Its elements, of which the embedded data is none: in its place stands nothing.
ParsedPage parsed(const std::string& report) {
    ParsedPage page;
    try {
        page.elements = parse_strictly(report);
    } catch (const std::runtime_error& error) {
        fail(error.what());
    }
    for (Element& e : page.elements) {
        if (e.name == "script" &&
            e.attributes == std::vector<std::pair<std::string, std::string>>{{"type", "application/json"}, {"id", "data"}}) {
            for (const char c : e.text) {
                if (c == '<' || c == '>' || c == '&' || static_cast<unsigned char>(c) < 0x20 ||
                    static_cast<unsigned char>(c) >= 0x7F) {
                    fail("a character of the data is not escaped");
                }
            }
            page.data = json::parse(e.text);
            e.text.clear();
        }
    }
    return page;
}

/// A text as JSON has it: what is no UTF-8 is replaced.
json as_json(std::string_view text) { return json::parse(json(text).dump(-1, ' ', true, json::error_handler_t::replace)); }

void expect_names(const json& data, History& history) {
    const auto same = [](const json& told, std::string_view name) {
        if (told != as_json(name)) {
            fail("a name is another: " + told.dump(-1, ' ', true) + ", not " + as_json(name).dump(-1, ' ', true));
        }
    };
    const SessionInfo& session = history.session();
    for (size_t i = 0; i < session.backends.size(); ++i) {
        same(data["backends"][i]["name"], session.backends[i].name);
        if (session.backends[i].kind) {
            same(data["backends"][i]["kind"], *session.backends[i].kind);
        }
        same(data["backends"][i]["description"], session.backends[i].description);
    }
    for (size_t i = 0; i < session.facts.size(); ++i) {
        same(data["facts"][i][0], session.facts[i].first);
        same(data["facts"][i][1], session.facts[i].second);
    }
    if (data["plans"].size() != 2) {
        fail("not the plans of the run");
    }
    for (const json& plan : data["plans"]) {
        const OwnedGraph* graph = history.graph_of(history.plan(plan["eval"].get<EvaluationId>()));
        for (size_t i = 0; i < graph->tensors.size(); ++i) {
            same(data["texts"][plan["tensors"][i][0].get<size_t>()], graph->tensors[i].name);
        }
    }
}

} // namespace

void run(std::span<const uint8_t> input) {
    static const std::vector<Element> harmless = [] {
        History history(recorded({"a", "b", "c"}, false));
        return parsed(report_of(history, "harmless")).elements;
    }();
    const std::vector<std::string> texts = test::hostile_texts(input);
    History history(recorded(texts, !input.empty() && input[0] % 16 == 5));
    const ParsedPage page = parsed(report_of(history, texts.back()));
    if (page.elements != harmless) {
        fail("the page has other elements than that of a harmless run");
    }
    if (page.data["trace"] != as_json(texts.back())) {
        fail("the trace's name is another");
    }
    expect_names(page.data, history);
}

} // namespace schedscope::fuzz

extern "C" int LLVMFuzzerInitialize(int*, char***) {
    schedscope::fuzz::give_sqlite_plain_memory();
    return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    schedscope::fuzz::run({data, size});
    return 0;
}
