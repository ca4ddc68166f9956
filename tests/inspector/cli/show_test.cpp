// show: every topic as text and as JSON, with the names that scripts rely on.
#include "tests/inspector/cli/harness/offers.h"
#include "tests/inspector/cli/harness/recorded.h"
#include "tests/inspector/cli/harness/story.h"
#include "tests/support/paths.h"
#include "traces/store/sqlite.h"

#include <gmock/gmock.h>

namespace schedscope::test {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

/// A trace with something to show of every kind: layers on a device where there is one.
Recorded recorded_on_two() {
    return Recorded(has_device("Vulkan0") ? std::vector<std::string>{"--device", "vulkan0,cpu", "-ngl", "3"}
                                          : std::vector<std::string>{"--device", "blas,cpu", "-fa", "off"});
}

void expect_keys(const json& row, const std::vector<const char*>& keys) {
    for (const char* key : keys) {
        EXPECT_TRUE(row.contains(key)) << key << " in " << row;
    }
}

TEST(Show, CountsOneAsOne) {
    const Recorded recorded({"--device", "cpu"});
    EXPECT_THAT(recorded.read("show").out,
                ::testing::AllOf(::testing::HasSubstr(" 1 split, 0 copies"), ::testing::HasSubstr("3 evaluations")));
}

TEST(Show, TellsWhichTableWasChangedAfterItWasWritten) {
    const Recorded recorded({"--device", "cpu"});
    const Outcome whole = recorded.read("show");
    EXPECT_EQ(whole.err, "");
    sqlite::Database(recorded.path(), sqlite::Database::Mode::edit).execute("CREATE INDEX mine ON assign (tensor); ANALYZE");
    EXPECT_EQ(recorded.read("show").err, "");
    sqlite::Database(recorded.path(), sqlite::Database::Mode::edit)
        .execute("UPDATE query SET yes = 1 - yes WHERE step = (SELECT max(step) FROM query)");
    const Outcome changed = recorded.read("show");
    EXPECT_EQ(changed.code, 0);
    EXPECT_EQ(changed.out, whole.out);
    EXPECT_EQ(changed.err, "schedscope: " + recorded.path() + ": table query: changed after it was written\n");
}

TEST(Show, EveryTopicIsTextAndJson) {
    const Recorded recorded = recorded_on_two();
    for (const std::string& topic : topics()) {
        const Outcome text = recorded.read("show", {"--what", topic, "--eval", "0"});
        EXPECT_EQ(text.code, 0) << topic;
        EXPECT_GT(count(text.out, "\n"), 0U) << topic;
        EXPECT_EQ(text.err, "") << topic;
        const json object = recorded.json("show", {"--what", topic, "--eval", "0"});
        ASSERT_TRUE(object.is_object() && object.contains(topic)) << topic;
        EXPECT_TRUE(object[topic].is_array()) << topic;
    }
}

TEST(Show, ListsHaveTheirKeys) {
    const Recorded recorded = recorded_on_two();
    const auto first = [&](const char* topic) {
        const json list = recorded.json("show", {"--what", topic, "--eval", "0"})[topic];
        EXPECT_GT(list.size(), 0U) << topic;
        return list.empty() ? json::object() : list[0];
    };
    expect_keys(first("passes"), {"pass", "assigned", "unassigned", "time_ns"});
    expect_keys(first("assignments"), {"id", "name", "op", "type", "ne", "backend", "cause", "split"});
    expect_keys(first("splits"), {"index", "backend", "first_node", "last_node", "why", "inputs", "time_ns"});
    expect_keys(first("fusion"), {"backend", "kernel", "nodes"});
    expect_keys(first("memory"), {"buffer_type", "size", "peak", "replan"});
    expect_keys(first("kernels"), {"node", "backend", "kernel", "start_ns", "end_ns", "bytes", "flops"});
    expect_keys(first("tokens"), {"eval", "seq", "id", "text", "samplers", "candidates", "host_bytes"});
    expect_keys(first("reuse"), {"eval", "reused", "failed"});
    expect_keys(recorded.json("show", {"--what", "fusion"}), {"fusion", "reorders", "not_fused"});
    const json memory = recorded.json("show", {"--what", "memory"});
    ASSERT_GT(memory["tensors"].size(), 0U);
    expect_keys(memory["tensors"][0], {"name", "buffer_type", "offset", "size", "first_use", "last_use", "in_place_of"});
}

TEST(Show, CopiesSayWhatGoesWhere) {
    if (!has_device("Vulkan0")) {
        GTEST_SKIP() << "no Vulkan device";
    }
    const Recorded recorded({"--device", "vulkan0,cpu", "-ngl", "3"});
    const json copies = recorded.json("show", {"--what", "copies", "--eval", "0"})["copies"];
    const json splits = recorded.json("show", {"--what", "splits", "--eval", "0"})["splits"];
    ASSERT_GT(copies.size(), 0U);
    for (const json& copy : copies) {
        expect_keys(copy, {"tensor", "from", "to", "stage", "split", "bytes"});
        EXPECT_NE(copy["from"], copy["to"]) << copy;
        EXPECT_EQ(copy["to"], splits.at(copy["split"].get<size_t>())["backend"]) << copy;
        EXPECT_GT(copy["bytes"], 0) << copy;
    }
    size_t n_inputs = 0;
    for (const json& split : splits) {
        for (const json& input : split["inputs"]) {
            expect_keys(input, {"tensor", "from", "bytes"});
            ++n_inputs;
        }
    }
    EXPECT_EQ(copies.size(), n_inputs);
}

TEST(Show, PassesComeInTheirOrder) {
    const Recorded recorded = recorded_on_two();
    std::vector<std::string> names;
    const json table = recorded.json("show", {"--what", "passes", "--eval", "0"});
    for (const json& pass : table["passes"]) {
        names.push_back(pass["pass"]);
    }
    EXPECT_EQ(names, (std::vector<std::string>{"1", "2a", "2b", "2c", "2d", "3", "4", "5", "optimise", "allocate", "execute"}));
}

TEST(Show, SplitsCoverEveryNodeOnce) {
    const Recorded recorded = recorded_on_two();
    const json splits = recorded.json("show", {"--what", "splits", "--eval", "0"})["splits"];
    ASSERT_GT(splits.size(), 1U);
    EXPECT_EQ(splits[0]["why"], "first");
    int next = 0;
    for (size_t i = 0; i < splits.size(); ++i) {
        EXPECT_EQ(splits[i]["index"], i);
        EXPECT_EQ(splits[i]["first_node"], next);
        EXPECT_GE(splits[i]["last_node"], splits[i]["first_node"]);
        EXPECT_THAT(splits[i]["why"].get<std::string>(), ::testing::AnyOf("first", "backend", "weight", "full"));
        next = splits[i]["last_node"].get<int>() + 1;
    }
    const json summary = recorded.json("show");
    EXPECT_EQ(recorded.json("show", {"--what", "splits"})["splits"].size(), summary["splits"]);
}

TEST(Show, APassShowsTheStateAtItsEnd) {
    const Recorded recorded = recorded_on_two();
    const json passes = recorded.json("show", {"--what", "passes", "--eval", "0"})["passes"];
    for (const json& pass : passes) {
        const std::string name = pass["pass"];
        // The copies that pass 5 makes are tensors, too.
        const size_t copies = recorded.json("show", {"--what", "copies", "--eval", "0", "--pass", name})["copies"].size();
        size_t assigned = 0, in_a_split = 0;
        const json at_its_end = recorded.json("show", {"--what", "assignments", "--eval", "0", "--pass", name})["assignments"];
        for (const json& row : at_its_end) {
            assigned += row["backend"].is_null() ? 0 : 1;
            in_a_split += row["split"].is_null() ? 0 : 1;
        }
        EXPECT_EQ(assigned, pass["assigned"].get<size_t>() + copies) << "pass " << name;
        const auto changed =
            std::count_if(at_its_end.begin(), at_its_end.end(), [](const json& row) { return row["changed"] == true; });
        EXPECT_EQ(static_cast<size_t>(changed), pass["changed"].get<size_t>()) << "pass " << name;
        EXPECT_EQ(in_a_split > 0, name == "5" || name.size() > 2) << "pass " << name;
    }
    EXPECT_EQ(recorded.json("show", {"--what", "splits", "--eval", "0", "--pass", "4"})["splits"].size(), 0U);
}

TEST(Show, APassOfAnEvaluationThatRunsAPlanAgainIsItsOwnWhereItHasOne) {
    const std::string trace = paths::sample("partial-offload");
    const auto shown = [&](const char* what, const std::vector<std::string>& more) {
        std::vector<std::string> arguments{"show", trace, "--what", what, "--json"};
        arguments.insert(arguments.end(), more.begin(), more.end());
        return json::parse(run(arguments).out);
    };
    ASSERT_TRUE(shown("reuse", {})["reuse"][3]["reused"]);
    const json executed = shown("kernels", {"--eval", "3", "--pass", "execute"});
    EXPECT_GT(executed["kernels"].size(), 0U);
    json whole = shown("kernels", {"--eval", "3"}), of_pass = executed;
    for (json* const table : {&whole, &of_pass}) {
        for (json& kernel : (*table)["kernels"]) {
            kernel.erase("share"); // of the time up to what is shown
        }
    }
    EXPECT_EQ(of_pass, whole);
    EXPECT_NE(executed, shown("kernels", {"--eval", "1", "--pass", "execute"}));
    EXPECT_EQ(shown("assignments", {"--eval", "3", "--pass", "2a"}), shown("assignments", {"--eval", "1", "--pass", "2a"}));
}

TEST(Show, KernelsRunOneAfterAnother) {
    const Recorded recorded({"--device", "cpu"});
    const json kernels = recorded.json("show", {"--what", "kernels", "--eval", "0"})["kernels"];
    ASSERT_GT(kernels.size(), 50U);
    int64_t before = 0;
    for (const json& kernel : kernels) {
        EXPECT_GE(kernel["start_ns"], before) << kernel;
        EXPECT_GE(kernel["end_ns"], kernel["start_ns"]) << kernel;
        before = kernel["end_ns"];
    }
}

TEST(Show, ReuseTellsWhyAGraphWasMadeAnew) {
    const Recorded recorded({"--device", "cpu"});
    const json reuse = recorded.json("show", {"--what", "reuse"})["reuse"];
    ASSERT_EQ(reuse.size(), 3U);
    EXPECT_FALSE(reuse[0]["reused"]);
    EXPECT_TRUE(reuse[0]["failed"].is_null()); // there was none before
    EXPECT_FALSE(reuse[1]["reused"]);
    EXPECT_EQ(reuse[1]["failed"], "n_tokens");
    EXPECT_TRUE(reuse[2]["reused"]);
}

TEST(Show, TheSummaryCounts) {
    const Recorded recorded({"--device", "cpu"});
    const json summary = recorded.json("show");
    EXPECT_EQ(summary["evaluations"], 3);
    EXPECT_EQ(summary["plans"], 2);
    EXPECT_EQ(summary["tokens"], 3);
    EXPECT_EQ(summary["failed"], 0);
    EXPECT_EQ(summary["last_planned"], 1);
    EXPECT_EQ(summary["evaluation"], 0);
    EXPECT_EQ(summary["nodes"], 161);
    EXPECT_EQ(summary["facts"]["architecture"], "llama");
    const std::string text = recorded.read("show").out;
    EXPECT_THAT(text, HasSubstr("3 evaluations, 2 planned; 3 tokens"));
    EXPECT_THAT(text, HasSubstr("161 nodes, 1 split"));
}

TEST(Show, TheSummarySaysHowManyThreadsComputed) {
    const Recorded recorded({"--device", "cpu", "-t", "1", "-tb", "2", "-Cr", "0-1023"});
    const json facts = recorded.json("show")["facts"];
    EXPECT_EQ(facts["threads"], "1");
    EXPECT_EQ(facts["batch_threads"], "2");
    EXPECT_FALSE(facts["processors"].get<std::string>().empty()) << "those that are here";
}

// The prompt is what there is to see; the graph that generates a token came later.
TEST(Show, BeginsWithTheFirstPromptAndShowsTheOneThatIsAskedFor) {
    const Recorded recorded({"--device", "cpu"});
    EXPECT_THAT(recorded.read("show").out, HasSubstr("evaluation 0 (0…2), the first prompt: 161 nodes"));
    EXPECT_THAT(recorded.read("show", {"--eval", "2"}).out, HasSubstr("evaluation 2 (0…2), decode: 161 nodes"));
    EXPECT_EQ(recorded.json("show", {"--eval", "1"})["evaluation"], 1);
    EXPECT_EQ(recorded.json("explain", {"embd"})["eval"], 0);
    EXPECT_EQ(recorded.json("show", {"--what", "kernels"}), recorded.json("show", {"--what", "kernels", "--eval", "0"}));
    EXPECT_NE(recorded.json("show", {"--what", "kernels"}), recorded.json("show", {"--what", "kernels", "--eval", "1"}));
    EXPECT_EQ(recorded.read("dot").out, recorded.read("dot", {"--eval", "0"}).out);
    EXPECT_EQ(recorded.read("show", {"--eval", "3"}).code, 2);
}

TEST(Show, ATraceNeedsNoWritePermission) {
    const Recorded recorded({"--device", "cpu"});
    const auto before = recorded.folder().names();
    EXPECT_EQ(recorded.read("show").code, 0);
    EXPECT_EQ(recorded.read("show", {"--what", "kernels"}).code, 0);
    EXPECT_EQ(recorded.folder().names(), before); // nothing is made beside it
}

/// Splits and inputs of the plan for a prompt, as `show` tells them.
std::pair<size_t, size_t> plan_of(const std::vector<std::string>& arguments, size_t n_prompt, const char* evaluation = "0") {
    const Recorded recorded(arguments, n_prompt);
    EXPECT_EQ(recorded.outcome().code, 0) << recorded.outcome().err;
    const json splits = recorded.json("show", {"--what", "splits", "--eval", evaluation})["splits"];
    size_t inputs = 0;
    for (const json& split : splits) {
        inputs += split["inputs"].size();
    }
    return {splits.size(), inputs};
}

using PlanCounts = std::pair<size_t, size_t>;

TEST(Plan, IsTheReferencesForEveryShareOfTheLayers) {
    if (!has_device("Vulkan0")) {
        GTEST_SKIP() << "no Vulkan device";
    }
    const struct {
        const char* n_gpu_layers;
        PlanCounts few_tokens, forty_tokens;
    } rows[] = {{"0", {1, 0}, {54, 67}}, {"1", {2, 2}, {55, 67}}, {"2", {2, 7}, {46, 58}}, {"3", {2, 7}, {35, 45}},
                {"5", {2, 7}, {13, 19}}, {"6", {2, 6}, {2, 6}},   {"99", {2, 6}, {2, 6}}};
    for (const auto& row : rows) {
        const std::vector<std::string> arguments = {"--device", "vulkan0,cpu", "-ngl", row.n_gpu_layers, "--dry-run"};
        EXPECT_EQ(plan_of(arguments, 16), row.few_tokens) << "-ngl " << row.n_gpu_layers << ", 16 tokens";
        EXPECT_EQ(plan_of(arguments, 16, "1"), row.few_tokens) << "-ngl " << row.n_gpu_layers << ", one token";
        EXPECT_EQ(plan_of(arguments, 40), row.forty_tokens) << "-ngl " << row.n_gpu_layers << ", 40 tokens";
    }
}

TEST(Plan, IsTheReferencesWithoutOffloadAndWithTheCacheOnTheHost) {
    if (!has_device("Vulkan0")) {
        GTEST_SKIP() << "no Vulkan device";
    }
    EXPECT_EQ(plan_of({"--device", "vulkan0,cpu", "-ngl", "0", "--no-op-offload", "--dry-run"}, 40), PlanCounts(1, 0));
    EXPECT_EQ(plan_of({"--device", "vulkan0,cpu", "-ngl", "3", "--no-op-offload", "--dry-run"}, 40), PlanCounts(2, 7));
    EXPECT_EQ(plan_of({"--device", "vulkan0,cpu", "-ngl", "3", "-nkvo", "--dry-run"}, 16), PlanCounts(6, 13));
}

TEST(Plan, IsTheReferencesOnTwoBackendsOfOneMemory) {
    EXPECT_EQ(plan_of({"--device", "blas,cpu", "-fa", "off", "--dry-run"}, 40), PlanCounts(47, 0));
}

} // namespace
} // namespace schedscope::test
