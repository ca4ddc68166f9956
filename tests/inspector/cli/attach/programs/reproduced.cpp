#include "tests/inspector/cli/attach/programs/reproduced.h"

#include "tests/inspector/cli/attach/joining/running.h"
#include "tests/inspector/cli/harness/files.h"
#include "tests/inspector/cli/harness/program.h"

#include <nlohmann/json.hpp>

#include <cstdlib>
#include <gtest/gtest.h>
#include <sstream>

namespace schedscope::test {

namespace {

using nlohmann::json;

json shown(const std::vector<std::string>& arguments) {
    const Outcome outcome = run(arguments);
    const json object = json::parse(outcome.out, nullptr, false);
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    EXPECT_TRUE(object.is_object());
    return object.is_object() ? object : json::object();
}

/// In the order of the program's evaluations.
void look_at_plans(const std::string& trace, Reproduced& found) {
    const Outcome lines = run({"export", trace, "--jsonl", "-"});
    EXPECT_EQ(lines.code, 0) << lines.err;
    std::istringstream all(lines.out);
    for (std::string line; std::getline(all, line);) {
        const json record = json::parse(line, nullptr, false);
        const std::string kind = record.value("kind", "");
        if (kind == "evaluation_begin") {
            found.reused += record.value("reused", false) ? 1 : 0;
            found.kinds.insert(record.value("graph_kind", ""));
        } else if (kind == "plan_begin") {
            const int64_t n = record.value("n_stages", 1);
            found.n_stages.insert(n);
            if (n > 1 && record["current_stage"].is_number()) { // nothing says it of a graph that is only measured
                found.stages.insert(record["current_stage"].get<int64_t>());
            }
        } else if (kind == "plan_backend") {
            found.schedulers.insert(record.value("scheduler", -1));
        }
    }
}

} // namespace

Reproduced expect_reproduced(const std::vector<std::string>& command, const std::string& trace, const Variables& variables) {
    Reproduced found;
    std::vector<std::string> alone = {"env"};
    for (const auto& [name, value] : variables) {
        alone.push_back(name + "=" + value);
    }
    alone.insert(alone.end(), {"sh", "-c", "exec \"$@\" 2>/dev/null", "sh"});
    alone.insert(alone.end(), command.begin(), command.end());
    const int code = Running(alone, trace + ".said").wait();
    found.said = read_bytes(trace + ".said");

    std::vector<std::string> arguments = {"record", "--force", "-o", trace, "--"};
    arguments.insert(arguments.end(), command.begin(), command.end());
    const Outcome recorded = run(arguments, {.environment = variables});
    EXPECT_EQ(recorded.code, code) << recorded.err;
    EXPECT_EQ(recorded.out, found.said);

    const json verdicts = shown({"show", trace, "--what", "verdicts", "--json"});
    for (const json& verdict : verdicts.value("verdicts", json::array())) {
        ++found.plans;
        EXPECT_EQ(verdict["decisions"], verdict["identical"]) << verdict;
        EXPECT_EQ(verdict["first"], json()) << verdict;
        if (verdict["kind"] != "reserve") {
            EXPECT_TRUE(verdict["memory"].is_object()) << verdict;
        }
        if (verdict["memory"].is_object()) {
            ++found.placed;
            EXPECT_EQ(verdict["memory"]["placements"], verdict["memory"]["identical"]) << verdict;
        }
    }
    EXPECT_GT(found.placed, 0);
    EXPECT_EQ(verdicts.value("plans", -1), found.plans);
    EXPECT_EQ(verdicts.value("reproduced", -1), found.plans);
    look_at_plans(trace, found);
    const json summary = shown({"show", trace, "--json"});
    for (const json& backend : summary.value("backends", json::array())) {
        found.backends.insert(backend.value("name", ""));
    }
    const json facts = summary.value("facts", json::object());
    for (const auto& [key, value] : facts.items()) {
        if (key.starts_with("ggml_library")) {
            found.libraries.insert(value.get<std::string>());
        }
    }
    return found;
}

std::vector<std::string> ggml_libraries(const std::string& folder, bool vulkan) {
    const std::string sort = vulkan ? "linux-x64-vulkan" : "linux-x64";
    const std::string bins = folder + "/node_modules/@node-llama-cpp/" + sort + "/bins/" + sort + "/";
    if (!exists(bins + "libggml-base.so")) {
        return {bins + "libggml.so"}; // all in one
    }
    std::vector<std::string> all = {bins + "libggml-base.so", bins + "libggml-cpu-x64.so"};
    if (vulkan) {
        all.push_back(bins + "libggml-vulkan.so");
    }
    return all;
}

} // namespace schedscope::test
