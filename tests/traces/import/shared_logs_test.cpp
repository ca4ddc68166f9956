// Whole logs of llama.cpp, beside the repository: what is imported is what a plain reading of fixed columns finds in the same
// text.

#include "tests/support/paths.h"
#include "tests/support/traces/imported.h"
#include "tests/support/traces/plan_rows.h"
#include "traces/history/accounts/as_logged.h"
#include "traces/history/accounts/memory.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <regex>

namespace schedscope::test {
namespace {

struct PlainNode {
    int index;
    std::string name, backend, cause; ///< cut as in the log
    std::vector<std::string> sources;
};
struct PlainSplit {
    std::string backend;
    std::vector<std::pair<std::string, int64_t>> inputs;
    std::vector<PlainNode> nodes;
};
using PlainGraph = std::vector<PlainSplit>;

std::string column(const std::string& line, size_t at, size_t width) {
    const std::string text = line.substr(at, width);
    const size_t first = text.find_first_not_of(' ');
    return first == std::string::npos ? "" : text.substr(first, text.find_last_not_of(' ') - first + 1);
}

/// By columns and a regular expression: for logs that are neither wrapped nor stamped.
std::vector<PlainGraph> read_plainly(const std::string& path) {
    static const std::regex header("## SPLIT #([0-9]+): (.*) # [0-9]+ inputs(?:: (.*))?"),
        input("\\[(.*?) \\( *([0-9]+)([KM])\\)\\] ");
    std::vector<PlainGraph> graphs;
    std::ifstream in(path);
    for (std::string line; std::getline(in, line);) {
        std::smatch m;
        if (std::regex_match(line, m, header)) {
            if (m[1] == "0") {
                graphs.emplace_back();
            }
            PlainSplit split;
            split.backend = m[2];
            const std::string inputs = m[3];
            for (std::sregex_iterator i(inputs.begin(), inputs.end(), input), end; i != end; ++i) {
                const int64_t bytes = std::stoll((*i)[2]) * ((*i)[3] == "K" ? 1024 : 1024 * 1024);
                split.inputs.emplace_back((*i)[1], bytes > 0 ? bytes : -1); // "0K": less than one, not known
            }
            graphs.back().push_back(split);
        } else if (line.starts_with("node #")) {
            // node #%3d (%10.10s): %20.20s (%5.5s) [%5.5s %8.8s] use=%d,c=%d: then 46 columns a source
            PlainNode node{std::stoi(line.substr(6, 3)), column(line, 24, 20), column(line, 54, 5), column(line, 60, 8), {}};
            for (size_t at = line.find(": ", 69) + 1; at < line.size(); at += 46) {
                node.sources.push_back(column(line, at + 1, 20));
            }
            graphs.back().back().nodes.push_back(node);
        }
    }
    return graphs;
}

std::vector<std::string> shared_logs() {
    std::vector<std::string> paths;
    std::error_code none;
    for (const auto& entry : std::filesystem::directory_iterator(paths::shared("logs"), none)) {
        if (entry.path().extension() == ".log") {
            paths.push_back(entry.path());
        }
    }
    std::sort(paths.begin(), paths.end());
    return paths;
}

void expect_same(Imported& imported, EvaluationId evaluation, const PlainGraph& plain) {
    History& history = *imported.history;
    const PlanState& state = history.plan(evaluation);
    const auto splits = test::split_rows(history, state);
    ASSERT_EQ(splits.size(), plain.size());
    const bool has_nodes = std::any_of(plain.begin(), plain.end(), [](const PlainSplit& s) { return !s.nodes.empty(); });
    for (size_t s = 0; s < plain.size(); ++s) {
        SCOPED_TRACE("split " + std::to_string(s));
        EXPECT_EQ(history.backend_name(splits[s].backend), plain[s].backend);
        EXPECT_EQ(splits[s].nodes_known, has_nodes);
        std::vector<std::pair<std::string, int64_t>> inputs;
        for (const test::SplitInputRow& input : splits[s].inputs) {
            inputs.emplace_back(input.tensor, input.bytes.value_or(-1));
        }
        EXPECT_EQ(inputs, plain[s].inputs);
        if (!plain[s].nodes.empty()) {
            EXPECT_EQ(splits[s].first_node, s == 0 ? 0 : plain[s].nodes.front().index);
        }
        if (s > 0 && splits[s].why == SplitReason::backend) {
            EXPECT_NE(plain[s].backend, plain[s - 1].backend);
        }
        const OwnedGraph& graph = *history.graph_of(state);
        for (const PlainNode& node : plain[s].nodes) {
            SCOPED_TRACE("node " + std::to_string(node.index));
            const TensorId id = graph.nodes.at(static_cast<size_t>(node.index));
            const TensorState& t = state.tensors[static_cast<size_t>(id)];
            EXPECT_EQ(history.tensor_name(state, id).substr(0, 20), node.name);
            EXPECT_EQ(t.split, static_cast<int>(s));
            EXPECT_EQ(history.backend_name(t.backend), plain[s].backend);
            EXPECT_EQ(history.backend_name(t.backend).substr(0, 5), node.backend);
            EXPECT_EQ(t.cause ? cause_name(*t.cause, t.source) : "", node.cause);
            // Sources by name, copies by theirs.
            std::vector<std::string> sources;
            const TensorInfo& info = graph.tensors[static_cast<size_t>(id)];
            for (size_t slot = 0; slot < info.src.size() && info.src[slot] != no_tensor; ++slot) {
                TensorId source = info.src[slot];
                for (const record::Rewired& r : state.rewires) {
                    source = r.node == id && r.source == static_cast<int>(slot) ? r.copy : source;
                }
                sources.push_back(history.tensor_name(state, source).substr(0, 20));
            }
            EXPECT_EQ(sources, node.sources);
        }
    }
}

TEST(SharedLogs, AreImportedAsAPlainReadingFindsThem) {
    const std::vector<std::string> logs = shared_logs();
    if (logs.empty()) {
        GTEST_SKIP() << paths::shared("logs") << " is not here";
    }
    for (const std::string& path : logs) {
        SCOPED_TRACE(path);
        const std::vector<PlainGraph> plain = read_plainly(path);
        Imported imported = Imported::file(path);
        ASSERT_EQ(imported.history->n_evaluations(), static_cast<int>(plain.size()));
        EXPECT_TRUE(imported.result.notes.empty()) << imported.result.notes.front();
        for (size_t g = 0; g < plain.size(); ++g) {
            SCOPED_TRACE("graph " + std::to_string(g));
            expect_same(imported, static_cast<EvaluationId>(g), plain[g]);
        }
    }
}

/// A context that ends prints its buffers again, with more digits.
TEST(SharedLogs, GiveABufferOneSize) {
    const std::string path = paths::shared("logs/whole-run-f16-ngl2.log");
    if (!std::filesystem::exists(path)) {
        GTEST_SKIP() << path << " is not here";
    }
    Imported imported = Imported::file(path);
    int n = 0;
    for (EvaluationId e = 0; e < imported.history->n_evaluations(); ++e) {
        for (const auto& memory : accounts::memory(*imported.history, imported.history->plan(e)).memory) {
            EXPECT_EQ(memory.size.bytes, memory.buffer_type == "Vulkan0" ? 930821 : 269379) << memory.buffer_type << " of " << e;
            EXPECT_EQ(memory.size.rounding, 53);
            ++n;
        }
    }
    EXPECT_EQ(n, 6);
    EXPECT_EQ(session_fact(imported.history->session(), accounts::compute_buffers_fact),
              "Vulkan0 0.8877 MiB, Vulkan_Host 0.2569 MiB");
}

} // namespace
} // namespace schedscope::test
