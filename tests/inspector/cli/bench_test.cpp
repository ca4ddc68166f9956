// bench: the form of what it says; how fast something is no test can know.
#include "tests/inspector/cli/harness/files.h"
#include "tests/inspector/cli/harness/program.h"
#include "tests/inspector/cli/harness/typed_out.h"

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include <csignal>

namespace schedscope::test {
namespace {

using nlohmann::json;
using ::testing::AllOf;
using ::testing::HasSubstr;

/// A model of some hundred kilobytes.
class Bench : public ::testing::Test {
protected:
    Bench() : model_(folder_ / "m.gguf") { EXPECT_EQ(run({"synth", "llama", "--type", "q8_0", "-o", model_}).code, 0); }

    /// Of 24 and 6 tokens, twice.
    Outcome bench(const std::vector<std::string>& more,
                  const std::vector<std::string>& sizes = {"-p", "24", "-n", "6", "-r", "2"}) const {
        std::vector<std::string> arguments{"bench", "-m", model_};
        arguments.insert(arguments.end(), sizes.begin(), sizes.end());
        arguments.insert(arguments.end(), more.begin(), more.end());
        return run(arguments);
    }

    Folder folder_;
    std::string model_;
};

void expect_measured(const json& value) {
    EXPECT_GT(value["mean"], 0);
    EXPECT_GE(value["deviation"], 0);
}

TEST_F(Bench, MeasuresEachListOfDevices) {
    const Outcome outcome = bench({"--device", "cpu", "--device", "blas,cpu", "--json"});
    ASSERT_EQ(outcome.code, 0) << outcome.err;
    EXPECT_EQ(outcome.err, "");
    const json result = json::parse(outcome.out);
    EXPECT_EQ(result["model"], model_);
    EXPECT_EQ(result["n_prompt"], 24);
    EXPECT_EQ(result["n_generate"], 6);
    EXPECT_EQ(result["repetitions"], 2);
    EXPECT_GT(result["machine"]["flops"], 0);
    EXPECT_GT(result["machine"]["read_bytes_per_s"], 0);
    EXPECT_GE(result["machine"]["threads"], 1);
    const json gguf = json::parse(run({"gguf", model_, "--json"}).out);
    ASSERT_EQ(result["bench"].size(), 2U);
    for (const json& row : result["bench"]) {
        for (const char* key :
             {"prompt_tokens_per_s", "generation_tokens_per_s", "planning_ns_per_node", "allocation_ns_per_node"}) {
            expect_measured(row[key]);
        }
        EXPECT_GT(row["share_of_flops"], 0);
        EXPECT_LT(row["share_of_flops"], 1.05) << "nothing is faster than the machine";
        EXPECT_GT(row["share_of_reading"], 0);
        EXPECT_GT(row["nodes"], 50);
        for (const char* level : {"none", "splits", "kernels"}) {
            EXPECT_TRUE(row["recording_overhead"][level].contains("mean")) << level;
        }
        EXPECT_TRUE(row["why_not_recorded"].is_null());
    }
    EXPECT_EQ(result["bench"][0]["devices"], "CPU");
    EXPECT_EQ(result["bench"][1]["devices"], "BLAS, CPU");
    EXPECT_EQ(result["bench"][0]["splits"], 1);
}

TEST_F(Bench, IsATableForPeople) {
    const Outcome outcome = bench({"--device", "cpu", "-t", "1"});
    ASSERT_EQ(outcome.code, 0) << outcome.err;
    EXPECT_THAT(outcome.out, AllOf(HasSubstr("1 thread, which"), HasSubstr("Gflop/s"), HasSubstr("GB/s")));
    const auto lines = lines_of(outcome.out);
    size_t row = 3; // behind the heading, an empty line and the titles
    ASSERT_EQ(lines.size(), row + 7);
    for (const auto& [test, unit] : {std::pair{"pp24", "tokens/s"},
                                     {"tg6", "tokens/s"},
                                     {"passes 1 to 5", "ns/node"},
                                     {"allocation", "ns/node"},
                                     {"of generating; times: none", "% time"},
                                     {"of generating; times: splits", "% time"},
                                     {"of generating; times: kernels", "% time"}}) {
        EXPECT_THAT(lines[row], AllOf(HasSubstr("CPU"), HasSubstr(test), HasSubstr(unit), HasSubstr("±")));
        ++row;
    }
}

TEST_F(Bench, LeavesOutWhatIsNotAskedFor) {
    const json only_prompt =
        json::parse(bench({"--device", "cpu", "--json"}, {"-p", "24", "-n", "0", "-r", "2"}).out)["bench"][0];
    EXPECT_TRUE(only_prompt["generation_tokens_per_s"].is_null());
    EXPECT_TRUE(only_prompt["share_of_reading"].is_null());
    EXPECT_TRUE(only_prompt["recording_overhead"].is_null());
    expect_measured(only_prompt["prompt_tokens_per_s"]);
    const json only_generation =
        json::parse(bench({"--device", "cpu", "--json"}, {"-p", "0", "-n", "6", "-r", "2"}).out)["bench"][0];
    EXPECT_TRUE(only_generation["prompt_tokens_per_s"].is_null());
    expect_measured(only_generation["generation_tokens_per_s"]);
}

TEST_F(Bench, MeasuresASingleTokenToo) {
    const json one = json::parse(bench({"--device", "cpu", "--json"}, {"-p", "0", "-n", "1", "-r", "2"}).out)["bench"][0];
    expect_measured(one["generation_tokens_per_s"]);
    EXPECT_GT(one["share_of_reading"], 0);
    EXPECT_TRUE(one["recording_overhead"].is_object());
}

TEST_F(Bench, RefusesInOneLine) {
    const auto refused = [&](const std::vector<std::string>& more, int code, const char* what) {
        const Outcome outcome = bench(more, {});
        EXPECT_EQ(outcome.code, code);
        EXPECT_EQ(outcome.out, "");
        EXPECT_EQ(count(outcome.err, "\n"), 1U);
        EXPECT_THAT(outcome.err, HasSubstr(what));
    };
    refused({"-p", "0", "-n", "0"}, 2, "-p 0 and -n 0");
    refused({"-r", "0"}, 2, "-r");
    refused({"--device", "cpu", "--device", "gpu9"}, 2, "gpu9");
    EXPECT_EQ(run({"bench", "-m", folder_ / "none.gguf"}).code, 3);
}

TEST_F(Bench, TellsNoDeviationOfASingleMeasurement) {
    const Outcome outcome = run({"bench", "-m", model_, "-p", "8", "-n", "4", "-r", "1", "--device", "cpu"});
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    EXPECT_THAT(outcome.out, HasSubstr("tokens/s"));
    EXPECT_THAT(outcome.out, ::testing::Not(HasSubstr("±")));
}

TEST_F(Bench, LeavesNoFilesBehind) {
    const Folder temporary;
    std::vector<std::string> arguments{"bench", "-m", model_, "-p", "8", "-n", "4", "-r", "1", "--device", "cpu"};
    EXPECT_EQ(run(arguments, {.environment = {{"TMPDIR", temporary.path()}}}).code, 0);
    EXPECT_EQ(temporary.names(), std::vector<std::string>());
    // Where no trace can be written, the rest is measured.
    arguments.emplace_back("--json");
    const Outcome nowhere = run(arguments, {.environment = {{"TMPDIR", temporary / "missing"}}});
    EXPECT_EQ(nowhere.code, 0) << nowhere.err;
    const json row = json::parse(nowhere.out)["bench"][0];
    EXPECT_TRUE(row["recording_overhead"].is_null());
    EXPECT_TRUE(row["why_not_recorded"].is_string());
    expect_measured(row["generation_tokens_per_s"]);
}

TEST_F(Bench, TellsATerminalHowFarItIsAndEndsAtCtrlC) {
    TypedOut terminal;
    Program program({"bench", "-m", model_, "-p", "400", "-n", "400", "-r", "1000", "--device", "cpu"},
                    {.err_descriptor = terminal.end_of_program()});
    ASSERT_TRUE(terminal.read_until("CPU  prompt of 400  1/1000")) << terminal.text();
    program.signal(SIGINT);
    const Outcome outcome = terminal.wait_for(program);
    EXPECT_EQ(outcome.code, 130);
    EXPECT_EQ(outcome.out, "");
    EXPECT_TRUE(terminal.text().ends_with("\r\033[K")) << "the line is cleared";
}

} // namespace
} // namespace schedscope::test
