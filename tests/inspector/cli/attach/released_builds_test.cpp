// Released builds of llama.cpp, as users have them, recorded while they generate.
#include "tests/inspector/cli/attach/joining/running.h"
#include "tests/inspector/cli/harness/files.h"
#include "tests/inspector/cli/harness/program.h"
#include "tests/support/attach/recorded_stream.h"
#include "tests/support/ggml/released.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <gmock/gmock.h>
#include <set>

namespace schedscope::test {
namespace {

using nlohmann::json;
using ::testing::AnyOf;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

std::string name_of(const ::testing::TestParamInfo<Released>& info) { return as_test_name(info.param.version); }

class ReleasedBuild : public ::testing::TestWithParam<Released> {};
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(ReleasedBuild);
INSTANTIATE_TEST_SUITE_P(Of, ReleasedBuild, ::testing::ValuesIn(released_builds()), name_of);

/// What one plan sent.
struct SentPlan {
    std::vector<SentRecord> tensors, assigns, splits, inputs, sources;
    int n_listed = 0, n_nodes = 0;
};
SentPlan plan_of(const RecordedStream& stream, int64_t evaluation) {
    SentPlan plan = {stream.of("tensor", evaluation), stream.of("real_assign", evaluation), stream.of("real_split", evaluation),
                     stream.of("real_input", evaluation), stream.of("real_source", evaluation)};
    for (const SentRecord& t : plan.tensors) {
        plan.n_nodes += t.number("node") >= 0 ? 1 : 0;
        plan.n_listed += t.number("node") >= 0 || t.number("leaf") >= 0 ? 1 : 0;
    }
    return plan;
}

/// The splits hold every node once, in order; each tensor of the lists has a backend; inputs are what some source became a copy
/// of.
void expect_whole(const SentPlan& plan) {
    EXPECT_GT(plan.n_nodes, 0);
    EXPECT_EQ(std::ssize(plan.assigns), plan.n_listed);
    int64_t end = 0;
    for (const SentRecord& split : plan.splits) {
        EXPECT_EQ(split.number("first_node"), end);
        end = split.number("end_node");
    }
    EXPECT_EQ(end, plan.n_nodes);
    for (const SentRecord& assign : plan.assigns) {
        EXPECT_GE(assign.number("backend"), 0);
    }
    std::set<int64_t> copied, inputs;
    for (const SentRecord& source : plan.sources) {
        copied.insert(source.number("copy_of"));
    }
    for (const SentRecord& input : plan.inputs) {
        inputs.insert(input.number("tensor"));
    }
    EXPECT_EQ(copied, inputs);
}

TEST_P(ReleasedBuild, GeneratesTheSameAndIsRecordedWhole) {
    NEEDS_SHARED();
    const std::vector<std::string> command = drive(GetParam(), paths::shared("models/stories260K-f32.gguf"));
    const Folder folder;
    const std::string trace = folder / "x.trace";
    std::vector<std::string> arguments = {"record", "-o", trace, "--"};
    arguments.insert(arguments.end(), command.begin(), command.end());
    const Outcome recorded = run(arguments);
    EXPECT_EQ(recorded.code, 0) << recorded.err;
    EXPECT_EQ(recorded.out, "432 383 286 261 376 298 315 421\n"); // as any llama of these weights says
    EXPECT_THAT(recorded.err, HasSubstr("wrote " + trace + ": "));
    EXPECT_THAT(recorded.err, HasSubstr("; next: schedscope inspect " + trace + "\n"));

    const RecordedStream stream = recorded_stream(command);
    EXPECT_TRUE(stream.ended);
    EXPECT_STREQ(stream.control.reason, "");
    int n_prompts = 0, n_steps = 0;
    for (const SentRecord& begin : stream.of("evaluation_begin")) {
        SCOPED_TRACE(begin.evaluation);
        if (begin.number("reused") == 0) {
            expect_whole(plan_of(stream, begin.evaluation));
        }
        n_prompts += begin.text("kind") == "prefill" ? 1 : 0;
        n_steps += begin.text("kind") == "decode" ? 1 : 0;
        if (begin.text("kind") != "reserve") {
            EXPECT_THAT(stream.of("split_run", begin.evaluation), Not(IsEmpty()));
        }
        EXPECT_EQ(stream.of("evaluation_end", begin.evaluation).size(), 1U);
    }
    EXPECT_EQ(n_prompts, 1);
    EXPECT_EQ(n_steps, 7);
}

TEST_P(ReleasedBuild, IsRecordedOnTwoBackends) {
    NEEDS_SHARED();
    if (!GetParam().vulkan) {
        GTEST_SKIP() << "its Vulkan build is not here";
    }
    setenv("GGML_VK_VISIBLE_DEVICES", "0", 1); // accepts a software driver
    const std::vector<std::string> command =
        drive(GetParam(), paths::shared("models/stories260K-f32.gguf"), {"--gpu", "vulkan", "--layers", "3", "--tokens", "3"});
    const RecordedStream stream = recorded_stream(command);
    if (stream.control.schedulers == 0) {
        GTEST_SKIP() << "there is no Vulkan device that it takes";
    }
    EXPECT_EQ(stream.of("backend").size(), 2U);
    bool has_inputs = false;
    for (const SentRecord& begin : stream.of("plan_begin")) {
        SCOPED_TRACE(begin.evaluation);
        const SentPlan plan = plan_of(stream, begin.evaluation);
        expect_whole(plan);
        has_inputs = has_inputs || !plan.inputs.empty();
        // Each input of a plan that ran was copied.
        if (!stream.of("split_run", begin.evaluation).empty()) {
            EXPECT_EQ(stream.of("transfer", begin.evaluation).size(), plan.inputs.size());
            EXPECT_EQ(stream.of("split_run", begin.evaluation).size(), plan.splits.size());
        }
    }
    EXPECT_TRUE(has_inputs);
}

/// Which is not idle time of the other devices.
TEST_P(ReleasedBuild, WaitsForTheEndOfEachSplitThatIsTimedExactly) {
    NEEDS_SHARED();
    AttachOptions options;
    options.sync = true;
    const RecordedStream stream =
        recorded_stream(drive(GetParam(), paths::shared("models/stories260K-f32.gguf"), {"--tokens", "2"}), options);
    const std::vector<SentRecord> runs = stream.of("split_run");
    ASSERT_FALSE(runs.empty());
    for (const SentRecord& split : runs) {
        const std::vector<SentRecord> waits = stream.of("wait", split.evaluation);
        EXPECT_TRUE(std::any_of(waits.begin(), waits.end(),
                                [&](const SentRecord& wait) {
                                    return wait.number("split") == split.number("split") &&
                                           wait.number("backend") == split.number("backend") &&
                                           wait.number("start_ns") >= split.number("start_ns") &&
                                           wait.number("end_ns") <= split.number("end_ns");
                                }))
            << "evaluation " << split.evaluation << ", split " << split.number("split");
    }
}

/// Which layers a device gets, and what the CPU says of weights that lie there, has changed from build to build.
TEST_P(ReleasedBuild, WithOtherLayersIsPlannedAsItPlansThen) {
    NEEDS_SHARED();
    if (!GetParam().vulkan) {
        GTEST_SKIP() << "its Vulkan build is not here";
    }
    setenv("GGML_VK_VISIBLE_DEVICES", "0", 1); // accepts a software driver
    const Folder folder;
    const auto recorded = [&](const std::string& layers) {
        std::vector<std::string> arguments = {"record", "-o", folder / layers, "--"};
        for (const std::string& word : drive(GetParam(), paths::shared("models/stories260K-f32.gguf"),
                                             {"--gpu", "vulkan", "--layers", layers, "--tokens", "2"})) {
            arguments.push_back(word);
        }
        const Outcome outcome = run(arguments);
        EXPECT_EQ(outcome.code, 0) << outcome.err;
        return outcome.code == 0;
    };
    if (recorded_stream(drive(GetParam(), paths::shared("models/stories260K-f32.gguf"), {"--gpu", "vulkan", "--tokens", "1"}))
            .control.schedulers == 0) {
        GTEST_SKIP() << "there is no Vulkan device that it takes";
    }
    ASSERT_TRUE(recorded("6") && recorded("3"));
    for (const auto& [from, to] : {std::pair{"6", "3"}, {"3", "6"}}) {
        SCOPED_TRACE(std::string("-ngl ") + from + " with " + to);
        const Outcome outcome = run({"replay", folder / from, "--set", std::string("ngl=") + to, "--json"});
        ASSERT_EQ(outcome.code, 0) << outcome.err;
        const json result = json::parse(outcome.out);
        ASSERT_FALSE(result["summary"].empty());
        for (const json& plans : result["summary"]) {
            EXPECT_TRUE(plans["stays_as_recorded"].is_null()) << plans["stays_as_recorded"];
            for (const json& evaluation : plans["evals"]) {
                const auto rows = [&](const char* what) {
                    const Outcome shown =
                        run({"show", folder / to, "--what", what, "--eval", std::to_string(evaluation.get<int>()), "--json"});
                    return json::parse(shown.out)[what].size();
                };
                EXPECT_EQ(plans["now"]["splits"], rows("splits")) << "evaluation " << evaluation;
                EXPECT_EQ(plans["now"]["copies"], rows("copies")) << "evaluation " << evaluation;
            }
        }
    }
}

TEST(ReleasedBuilds, WhoseDevicesAreNotUsedAreNamed) {
    NEEDS_SHARED();
    NEEDS_RELEASED_BUILDS();
    const Released build = released_builds().back();
    if (!build.vulkan) {
        GTEST_SKIP() << "its Vulkan build is not here";
    }
    const Folder folder;
    const std::string trace = folder / "x.trace", idle = "libggml-vulkan.so was loaded, but the program uses no device of it";
    const auto recorded = [&](const std::string& visible) {
        std::vector<std::string> arguments = {"record", "-o", trace, "--", "env"};
        arguments.push_back(visible.empty() ? "-uGGML_VK_VISIBLE_DEVICES" : "GGML_VK_VISIBLE_DEVICES=" + visible);
        for (const std::string& word :
             drive(build, paths::shared("models/stories260K-f32.gguf"), {"--gpu", "vulkan", "--layers", "3", "--tokens", "2"})) {
            arguments.push_back(word);
        }
        const Outcome outcome = run(arguments);
        EXPECT_EQ(outcome.code, 0) << outcome.err;
        return outcome.err;
    };
    const auto has_device = [&] { return run({"show", trace}).out.find("backend  Vulkan") != std::string::npos; };
    const std::string told = recorded("");
    EXPECT_EQ(told.find(idle) == std::string::npos, has_device());
    if (!has_device()) { // those in software are left out
        EXPECT_EQ(count(told, idle), 1U);
        EXPECT_EQ(count(run({"show", trace}).out, idle), 1U);
        EXPECT_THAT(run({"explain", trace, "l_out-0"}).out, HasSubstr("no device but the CPU: " + idle));
    }
    const std::string named = recorded("0");
    EXPECT_EQ(named.find(idle) == std::string::npos, has_device());
}

TEST(ReleasedBuilds, HaveATraceOfEachProcess) {
    NEEDS_SHARED();
    NEEDS_RELEASED_BUILDS();
    const Folder folder;
    std::string script; // two at once, and one behind them
    for (const char* const behind : {" & ", "; wait; ", ""}) {
        for (const std::string& word :
             drive(released_builds().back(), paths::shared("models/stories260K-f32.gguf"), {"--tokens", "2"})) {
            script += "'" + word + "' ";
        }
        script += behind;
    }
    const Outcome recorded = run({"record", "--children", "-o", folder / "x.trace", "--", "sh", "-c", script + "; exit 5"});
    EXPECT_EQ(recorded.code, 5) << recorded.err;
    EXPECT_EQ(recorded.out, "432 383\n432 383\n432 383\n");
    int n = 0;
    for (const auto& entry : std::filesystem::directory_iterator(folder / "")) {
        const std::string name = entry.path().filename().string();
        SCOPED_TRACE(name);
        EXPECT_TRUE(name == "x.trace" || (name.starts_with("x-") && name.ends_with(".trace")));
        EXPECT_THAT(recorded.err, HasSubstr("wrote " + (folder / name) + ": "));
        const json object = json::parse(run({"show", folder / name, "--what", "verdicts", "--json"}).out, nullptr, false);
        ASSERT_TRUE(object.is_object());
        EXPECT_GE(object["plans"], 2);
        EXPECT_EQ(object["plans"], object["reproduced"]);
        ++n;
    }
    EXPECT_EQ(n, 3);
}

/// A recording of a program that would generate for long, once some of it is in the file.
class KilledRecording : public ::testing::Test {
protected:
    void SetUp() override {
        NEEDS_SHARED();
        NEEDS_RELEASED_BUILDS();
        std::vector<std::string> arguments = {"record", "-o", trace, "--"};
        for (const std::string& word : drive(released_builds().back(), paths::shared("models/stories260K-f32.gguf"),
                                             {"--tokens", "100000", "--context", "512"})) {
            arguments.push_back(word);
        }
        program.emplace(arguments, Start{.environment = {{"LLAMA_GRAPH_REUSE_DISABLE", "1"}}});
        while (!exists(trace) || !exists(trace + "-wal") || n_evaluations() < 20) {
            ASSERT_FALSE(program->has_ended());
            breathe();
        }
    }
    int64_t n_evaluations() const {
        const Outcome shown = run({"show", trace, "--what", "reuse", "--json"});
        const json object = json::parse(shown.out, nullptr, false);
        return shown.code == 0 && object.is_object() ? std::ssize(object["reuse"]) : 0;
    }
    /// Every evaluation before the last one ended in the file, and every plan; a plan that came again is there once.
    void expect_whole_plans() const {
        const Outcome exported = run({"export", trace, "--jsonl", "-"});
        ASSERT_EQ(exported.code, 0) << exported.err;
        const size_t n_begun = count(exported.out, "\"evaluation_begin\"");
        EXPECT_GE(n_begun, 15U);
        EXPECT_THAT(count(exported.out, "\"evaluation_end\""), AnyOf(n_begun, n_begun - 1)); // the last one may have been running
        EXPECT_EQ(count(exported.out, "\"plan_begin\""), count(exported.out, "\"plan_end\""));
    }

    const Folder folder;
    const std::string trace = folder / "x.trace";
    std::optional<Program> program;
};

TEST_F(KilledRecording, KeepsWhatWasCompleteWhenTheProgramIsKilled) {
    const std::vector<pid_t> recorder = children_of("self");
    ASSERT_EQ(recorder.size(), 1U);
    const std::vector<pid_t> recorded = children_of(std::to_string(recorder[0]));
    ASSERT_EQ(recorded.size(), 1U);
    kill(recorded[0], SIGKILL);
    const Outcome outcome = program->wait();
    EXPECT_EQ(outcome.code, 128 + SIGKILL);
    EXPECT_THAT(outcome.err, HasSubstr("the program was killed"));
    EXPECT_THAT(outcome.err, HasSubstr("wrote " + trace));
    EXPECT_FALSE(exists(trace + "-wal"));
    expect_whole_plans();
}

TEST_F(KilledRecording, GoesOnWhenTheRecorderIsKilled) {
    const std::vector<pid_t> recorder = children_of("self");
    ASSERT_EQ(recorder.size(), 1U);
    const std::vector<pid_t> recorded = children_of(std::to_string(recorder[0]));
    ASSERT_EQ(recorded.size(), 1U);
    program->signal(SIGKILL);
    while (!program->has_ended()) {
        breathe();
    }
    EXPECT_EQ(kill(recorded[0], 0), 0); // it lives, and does not wait for anybody
    kill(recorded[0], SIGKILL);
    program->wait(); // until both let go of their output
    expect_whole_plans();
}

} // namespace
} // namespace schedscope::test
