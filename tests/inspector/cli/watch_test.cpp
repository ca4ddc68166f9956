// --watch: what is recorded of the tensors that match, that it is right, and that nothing else changes.
#include "tests/inspector/cli/harness/recorded.h"
#include "tests/inspector/cli/harness/story.h"
#include "tests/support/terminal.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <set>

namespace schedscope::test {
namespace {

using nlohmann::json;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

std::vector<std::string> on(const std::string& devices, std::vector<std::string> more) {
    std::vector<std::string> arguments{"--device", devices, "-fa", "off"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return arguments;
}

class Watch : public ::testing::TestWithParam<const char*> {
protected:
    void SetUp() override {
        const std::string first = GetParam();
        if (first.starts_with("vulkan0") && !has_device("Vulkan0")) {
            GTEST_SKIP() << "no Vulkan device";
        }
    }
};
INSTANTIATE_TEST_SUITE_P(Devices, Watch, ::testing::Values("cpu", "blas,cpu", "vulkan0,cpu"),
                         [](const auto& info) { return as_test_name(info.param); });

TEST_P(Watch, RecordsWhatASoftMaxMustHold) {
    const Recorded recorded(on(GetParam(), {"--watch", "name=kq_soft_max-3"}), 5);
    ASSERT_EQ(recorded.outcome().code, 0) << recorded.outcome().err;
    const json values = recorded.json("show", {"--what", "values"})["values"];
    ASSERT_EQ(values.size(), 3U); // the prompt, and each token but the last
    for (size_t i = 0; i < values.size(); ++i) {
        const json& v = values[i];
        EXPECT_EQ(v["eval"], i);
        EXPECT_EQ(v["tensor"], "kq_soft_max-3");
        EXPECT_EQ(v["nan"], 0);
        EXPECT_EQ(v["inf"], 0);
        EXPECT_EQ(v["min"], 0.0); // what the mask hides
        EXPECT_LE(v["max"].get<double>(), 1.0);
        // Each row of probabilities sums to 1: as many as there are tokens and heads.
        const double rows = (i == 0 ? 5 : 1) * 8;
        EXPECT_NEAR(v["mean"].get<double>() * v["elements"].get<double>(), rows, 1e-4 * rows);
        EXPECT_GE(v["norm"].get<double>(), v["max"].get<double>());
        ASSERT_EQ(v["histogram"].size(), 32U);
        int64_t counted = 0;
        for (const json& part : v["histogram"]) {
            counted += part.get<int64_t>();
        }
        EXPECT_EQ(counted, v["elements"].get<int64_t>());
        EXPECT_EQ(v["first"].size(), 8U);
    }
    EXPECT_NEAR(values[0]["first"][0].get<double>(), 1.0, 1e-6); // the first token sees only itself
    EXPECT_EQ(recorded.json("show", {"--what", "values", "--eval", "1"})["values"].size(), 1U);
    const std::string text = recorded.read("show", {"--what", "values", "--eval", "0"}).out;
    EXPECT_EQ(lines_of(text).size(), 2U) << text;
    EXPECT_THAT(text, HasSubstr("kq_soft_max-3"));
}

TEST_P(Watch, ChangesNeitherTextNorLogits) {
    const Folder folder;
    const auto logits = [&](const std::string& name, std::vector<std::string> more) {
        std::vector<std::string> arguments = on(GetParam(), {"-m", model(), "--tokens", prompt_ids(6), "-n", "4", "--temp", "0",
                                                             "--logits-all", "--logits-out", folder / name});
        arguments.insert(arguments.begin(), "run");
        arguments.insert(arguments.end(), more.begin(), more.end());
        const Outcome outcome = run(arguments);
        EXPECT_EQ(outcome.code, 0) << outcome.err;
        const std::string bytes = read_bytes(folder / name);
        std::vector<float> rows(bytes.size() / sizeof(float));
        std::memcpy(rows.data(), bytes.data(), rows.size() * sizeof(float));
        return std::pair(outcome.out, rows);
    };
    const auto plain = logits("plain", {});
    const auto apart = logits("apart", {"--no-fusion"});
    const auto watched = logits("watched", {"--record", folder / "t", "--watch", "kind=node"});
    EXPECT_EQ(watched.first, plain.first);
    EXPECT_EQ(watched.second, apart.second); // the same kernels on the same numbers
    ASSERT_EQ(watched.second.size(), plain.second.size());
    for (size_t i = 0; i < plain.second.size(); ++i) {
        ASSERT_NEAR(watched.second[i], plain.second[i], 1e-3F) << i;
    }
}

TEST_P(Watch, EveryWatchedNodeRunsAsItself) {
    const Recorded recorded(on(GetParam(), {"--watch", "kind=node"}), 5);
    ASSERT_EQ(recorded.outcome().code, 0) << recorded.outcome().err;
    EXPECT_EQ(recorded.json("show", {"--what", "fusion"})["fusion"].size(), 0U);
    const json reasons = recorded.json("show", {"--what", "fusion"})["not_fused"];
    EXPECT_TRUE(std::any_of(reasons.begin(), reasons.end(), [](const json& pair) { return pair["why"] == "watched"; }))
        << reasons;
    const json kernels = recorded.json("show", {"--what", "kernels"})["kernels"];
    ASSERT_GT(kernels.size(), 0U);
    for (const json& kernel : kernels) {
        EXPECT_EQ(kernel["nodes"], 1) << kernel;
    }
    const json tensors = recorded.json("show", {"--what", "assignments", "--eval", "0"})["assignments"];
    const auto n_nodes = std::count_if(tensors.begin(), tensors.end(), [](const json& t) {
        return t["op"] != "NONE" && t["name"].get<std::string>().find('#') == std::string::npos; // no leaf, no copy
    });
    EXPECT_EQ(recorded.json("show", {"--what", "values", "--eval", "0"})["values"].size(), static_cast<size_t>(n_nodes));
}

TEST_P(Watch, OtherNodesAreFusedAsEver) {
    const json fused = Recorded(on(GetParam(), {}), 5).json("show", {"--what", "fusion"})["fusion"];
    const Recorded recorded(on(GetParam(), {"--watch", "name=norm op=RMS_NORM"}), 5);
    const json fewer = recorded.json("show", {"--what", "fusion"})["fusion"];
    EXPECT_EQ(fewer.size() + 1, fused.size());
}

TEST_P(Watch, WeightsInputsAndCachesOfAnyTypeAreRead) {
    const Folder folder;
    const std::string trace = folder / "t";
    std::vector<std::string> arguments =
        on(GetParam(), {"-m", model("q4_0"), "--tokens", "1,403,407", "-n", "1", "-o", trace, "--watch", "kind=leaf"});
    arguments.insert(arguments.begin(), "record");
    ASSERT_EQ(run(arguments).code, 0);
    const auto shown = [&](const char* what) {
        return json::parse(run({"show", trace, "--what", what, "--eval", "0", "--json"}).out)[what];
    };
    std::map<int, std::string> types;
    const json tensors = shown("assignments"), values = shown("values");
    for (const json& t : tensors) {
        types[t["id"]] = t["type"];
    }
    std::set<std::string> seen;
    for (const json& v : values) {
        seen.insert(types[v["id"]]);
        EXPECT_GT(v["elements"], 0) << v;
        EXPECT_EQ(v["nan"], 0) << v;
        if (v["tensor"] == "inp_tokens") {
            EXPECT_EQ(v["first"], (json{1, 403, 407}));
        }
        if (v["tensor"] == "token_embd.weight") {
            EXPECT_EQ(v["elements"], 512 * 64);
            EXPECT_GT(v["norm"], 0);
        }
    }
    EXPECT_THAT(seen, ::testing::IsSupersetOf({"f32", "f16", "q4_0", "i32"}));
}

TEST_P(Watch, IsInTheRecordsOfItsEvaluations) {
    const Recorded recorded(on(GetParam(), {"--watch", "op=SOFT_MAX", "--watch", "result_output"}), 5);
    const std::string lines = recorded.folder() / "lines";
    ASSERT_EQ(recorded.read("export", {"--jsonl", lines}).code, 0);
    std::string last_run;
    size_t begun = 0, values = 0;
    for (const std::string& line : lines_of(read_bytes(lines))) {
        const json record = json::parse(line);
        if (record["kind"] == "evaluation_begin") {
            EXPECT_EQ(record["observed"], true);
            ++begun;
        } else if (record["kind"] == "execute") {
            last_run = record["last_name"];
        } else if (record["kind"] == "value") {
            EXPECT_EQ(record["tensor_name"], last_run); // as soon as it was computed
            ++values;
        }
    }
    EXPECT_EQ(begun, 3U);
    EXPECT_EQ(values, 3U * 6); // five layers and the output
}

TEST_P(Watch, IsToldInTheTensorsStory) {
    const Recorded recorded(on(GetParam(), {"--watch", "name=kq_soft_max-3"}), 5);
    const std::string story = recorded.read("explain", {"kq_soft_max-3", "--eval", "0"}).out;
    EXPECT_THAT(story, HasSubstr("value "));
    EXPECT_THAT(story, HasSubstr("from 0 to 1, mean "));
    bool told = false;
    const json lines = recorded.json("explain", {"kq_soft_max-3", "--eval", "0"})["then"];
    for (const json& line : lines) {
        told = told || line["what"] == "value";
    }
    EXPECT_TRUE(told);
}

TEST(WatchPattern, WithoutATensorIsAWrongUsage) {
    const Folder folder;
    for (const char* command : {"run", "record"}) {
        std::vector<std::string> arguments{command, "-m", model(), "--tokens", "1", "-n", "2", "--watch", "no_such_tensor"};
        if (arguments[0] == "record") {
            arguments.insert(arguments.end(), {"-o", folder / "t"});
        }
        const Outcome outcome = run(arguments);
        EXPECT_EQ(outcome.code, 2);
        EXPECT_EQ(outcome.out, "");
        EXPECT_EQ(lines_of(outcome.err).size(), 1U) << outcome.err;
        EXPECT_THAT(outcome.err, HasSubstr("schedscope: --watch no_such_tensor: matches no tensor of the graph"));
    }
}

TEST(WatchPattern, ThatAsksForWhatIsNotKnownIsRefusedBeforeAnythingRuns) {
    for (const char* pattern : {"time>1ms", "colour=red", "bytes>many", "", "  "}) {
        const Outcome outcome = run({"run", "-m", "nowhere.gguf", "--watch", pattern});
        EXPECT_EQ(outcome.code, 2) << pattern;
        EXPECT_EQ(lines_of(outcome.err).size(), 1U) << outcome.err;
        EXPECT_THAT(outcome.err, HasSubstr("--watch"));
    }
}

TEST(WatchPattern, OfAnOperatorFindsItsGatesByTheNameThatIsShown) {
    const Recorded by_gate({"--watch", "op=SWIGLU"}, 5), by_operator({"--watch", "op=GLU"}, 5);
    EXPECT_EQ(by_gate.outcome().code, 0) << by_gate.outcome().err;
    EXPECT_EQ(by_operator.outcome().code, 0) << by_operator.outcome().err;
    EXPECT_EQ(by_operator.json("show", {"--what", "values"}), by_gate.json("show", {"--what", "values"}));
    EXPECT_THAT(by_gate.read("show").out, AllOf(HasSubstr("SWIGLU "), Not(HasSubstr("\nGLU "))));
}

TEST(WatchPattern, OneOfSeveralWithoutATensorIsNamed) {
    const Outcome outcome =
        run({"run", "-m", model(), "--tokens", "1", "-n", "1", "--watch", "result_output", "--watch", "nope"});
    EXPECT_EQ(outcome.code, 2);
    EXPECT_THAT(outcome.err, HasSubstr("--watch nope: "));
}

TEST(WatchWithoutATrace, PrintsEachValue) {
    const Outcome outcome = run(
        {"run", "-m", model(), "--tokens", prompt_ids(5), "-n", "3", "--temp", "0", "--device", "cpu", "--watch", "result_norm"});
    EXPECT_EQ(outcome.code, 0);
    const auto lines = lines_of(outcome.err);
    ASSERT_EQ(lines.size(), 3U) << outcome.err;
    EXPECT_THAT(lines[0], HasSubstr("evaluation 0  result_norm  from "));
    EXPECT_THAT(lines[2], HasSubstr("evaluation 2  result_norm  from "));
}

TEST(WatchInTheInspector, ShowsTheValuesOfARunningProgram) {
    for (const std::vector<std::string>& command :
         {std::vector<std::string>{"inspect"}, std::vector<std::string>{"run", "--step"}}) {
        std::vector<std::string> arguments{program_path()};
        arguments.insert(arguments.end(), command.begin(), command.end());
        for (const char* more : {"-m", "", "--tokens", "1,403", "-n", "2", "--temp", "0", "--device", "cpu", "-fa", "off",
                                 "--watch", "name=kq_soft_max-3"}) {
            arguments.push_back(*more == '\0' ? model() : more);
        }
        Terminal t(50, 160, arguments);
        ASSERT_TRUE(t.shows("HELD")) << t.text();
        t.press("bkind=value_element\n");
        ASSERT_TRUE(t.shows("breakpoint on")) << t.text();
        t.press("c");
        ASSERT_TRUE(t.shows("breakpoint: ")) << t.text();
        EXPECT_TRUE(t.shows("┬ kq_soft_max-3 ")) << t.text();
        EXPECT_TRUE(t.shows("range   0 … 1")) << t.text();
        EXPECT_TRUE(t.shows("first   1")) << t.text();
        t.press("q");
        EXPECT_EQ(t.wait_for_exit(), 0);
    }
}

} // namespace
} // namespace schedscope::test
