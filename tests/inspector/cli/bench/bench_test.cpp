// bench: the form of what it says; how fast something is no test can know.
#include "tests/inspector/cli/harness/files.h"
#include "tests/inspector/cli/harness/program.h"
#include "tests/inspector/cli/harness/typed_out.h"

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include <cmath>
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
    EXPECT_GT(result["machine"]["int8_ops"], 0);
    EXPECT_GE(result["machine"]["bf16_flops"], result["machine"]["flops"]);
    EXPECT_GE(result["machine"]["threads"], 1);
    EXPECT_EQ(result["machines"], json::array({result["machine"]}));
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
        ASSERT_EQ(row["tests"].size(), 2U);
        EXPECT_EQ(row["tests"][0]["tokens_per_s"], row["prompt_tokens_per_s"]);
        EXPECT_EQ(row["tests"][1]["tokens_per_s"], row["generation_tokens_per_s"]);
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

TEST_F(Bench, MeasuresAtEachDepthInEachBatchWithEachNumberOfThreads) {
    const Outcome outcome = bench({"--device", "cpu", "-d", "0,300", "--batches", "1,4,64", "-t", "1,all", "--json"});
    ASSERT_EQ(outcome.code, 0) << outcome.err;
    const json result = json::parse(outcome.out);
    ASSERT_EQ(result["bench"].size(), 2U);
    ASSERT_EQ(result["machines"].size(), 2U);
    EXPECT_EQ(result["bench"][0]["threads"], 1);
    for (size_t i = 0; i < 2; ++i) {
        const json& row = result["bench"][i];
        EXPECT_EQ(row["threads"], result["machines"][i]["threads"]);
        std::vector<std::string> names;
        for (const json& test : row["tests"]) {
            names.push_back(test["test"]);
            expect_measured(test["tokens_per_s"]);
            EXPECT_GT(test["share_of_flops"], 0) << test;
            EXPECT_GT(test["share_of_reading"], 0) << test;
        }
        EXPECT_THAT(names, ::testing::ElementsAre("pp24", "tg6", "tg6 x4", "tg6 x64", "pp24 @ d300", "tg6 @ d300",
                                                  "tg6 x4 @ d300", "tg6 x64 @ d300"));
        EXPECT_EQ(row["tests"][6]["depth"], 300);
        EXPECT_EQ(row["tests"][6]["sequences"], 4);
        EXPECT_EQ(row["tests"][6]["n_generate"], 6);
        EXPECT_EQ(row["generation_tokens_per_s"], row["tests"][1]["tokens_per_s"]) << "the first stands beside them";
    }
}

/// The work that a share is of grows with what is attended to: as the shares through the rates say, on whatever machine.
TEST_F(Bench, CountsWhatIsReadAndMultiplied) {
    const json result = json::parse(
        bench({"--device", "cpu", "-d", "0,200", "--batches", "1,8", "-t", "1", "--json"}, {"-p", "0", "-n", "7", "-r", "1"})
            .out);
    const json& machine = result["machine"];
    const auto bytes = [&](const json& test) {
        return test["share_of_reading"].get<double>() * machine["read_bytes_per_s"].get<double>() /
               test["tokens_per_s"]["mean"].get<double>() * test["sequences"].get<double>();
    };
    const json& tests = result["bench"][0]["tests"];
    ASSERT_EQ(tests.size(), 4U);
    const json header = json::parse(run({"gguf", model_, "--json"}).out)["metadata"];
    const auto number = [&](const std::string& key) { return header["llama." + key].get<double>(); };
    const double heads = number("attention.head_count_kv"), length = number("embedding_length") / number("attention.head_count");
    const double position = number("block_count") * 2 * heads * length * 2; // K and V, halves
    EXPECT_NEAR(bytes(tests[2]) - bytes(tests[0]), 200 * position, 1) << "a token more in front, a position more is read";
    EXPECT_NEAR(bytes(tests[1]) - bytes(tests[0]), 7 * 4 * position, 1) << "each sequence has its own, four on average";
    EXPECT_NEAR(bytes(tests[3]) - bytes(tests[1]), 200 * position, 1) << "what stands in front of all is there once";
}

/// Weights in code books are multiplied as floats in either kind of products. Whole numbers count by the rate that the
/// machine has for them, which on some machines is hardly above that of floats; so does BF16, which only some have a rate for.
TEST_F(Bench, CountsProductsInWholeNumbersWhereTheyAre) {
    double float_per_int8 = 0, float_per_bf16 = 0; // what the machine does of floats by what it does of those, in the last run
    const auto work = [&](const std::string& type, const std::string& products) {
        EXPECT_EQ(run({"synth", "llama", "--preset", "110m", "--type", type, "-o", model_}).code, 0);
        const json result =
            json::parse(bench({"--device", "cpu", "--cpu-products", products, "--json"}, {"-p", "32", "-n", "0", "-r", "1"}).out);
        const json &test = result["bench"][0]["tests"][0], &machine = result["machine"];
        float_per_int8 = machine["flops"].get<double>() / machine["int8_ops"].get<double>();
        float_per_bf16 = machine["flops"].get<double>() / machine["bf16_flops"].get<double>();
        // As much work as that of floats which takes the same time.
        return test["share_of_flops"].get<double>() * machine["flops"].get<double>() / test["tokens_per_s"]["mean"].get<double>();
    };
    const double floats = work("iq2_xxs", "float");
    EXPECT_NEAR(work("iq2_xxs", "int8") / floats, 1, 1e-3);
    EXPECT_NEAR(work("mxfp4", "float") / floats, 1, 1e-3);
    const double mostly_int8 = work("mxfp4", "int8") / floats;
    EXPECT_NEAR(mostly_int8, float_per_int8, 0.05 * std::abs(1 - float_per_int8)) << "all but attention is in int8";
    EXPECT_NEAR(work("bf16", "float") / floats, 1, 1e-3);
    const double mostly_bf16 = work("bf16", "int8") / floats;
    EXPECT_NEAR(mostly_bf16, float_per_bf16, 0.05 * std::abs(1 - float_per_bf16) + 1e-3) << "all but attention is in bf16";
}

TEST_F(Bench, PrintsRatesAloneForWhoComparesThem) {
    const Outcome outcome = bench({"--device", "cpu", "-d", "9", "--rates"});
    ASSERT_EQ(outcome.code, 0) << outcome.err;
    const json rates = json::parse(outcome.out);
    EXPECT_GT(rates["prefill_tok_s"], 0);
    EXPECT_GT(rates["decode_tok_s"], 0);
    EXPECT_EQ(rates["devices"], "CPU");
    EXPECT_EQ(rates["on_processors"], true);
    EXPECT_TRUE(json::parse(bench({"--device", "cpu", "--rates"}, {"-p", "0", "-n", "2"}).out)["prefill_tok_s"].is_null());
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
    refused({"-d", "0,-1"}, 2, "-d");
    refused({"--batches", "1,65"}, 2, "--batches");
    refused({"-t", "1,most"}, 2, "-t");
    refused({"--rates", "-d", "0,5"}, 2, "--rates");
    refused({"--against", "true", "--batches", "4"}, 2, "--batches");
    refused({"--against", "true", "--rates"}, 2, "--rates");
    refused({"--against", ""}, 2, "--against");
    EXPECT_EQ(run({"bench", "--against", "true"}).err, "schedscope: bench: --against needs a model that both can read (-m)\n");
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
    ASSERT_TRUE(terminal.read_until("/1000 … ")) << terminal.text();
    program.signal(SIGINT);
    const Outcome outcome = terminal.wait_for(program);
    EXPECT_EQ(outcome.code, 130);
    EXPECT_EQ(outcome.out, "");
    EXPECT_TRUE(terminal.text().ends_with("\r\033[K")) << "the line is cleared";
}

} // namespace
} // namespace schedscope::test
