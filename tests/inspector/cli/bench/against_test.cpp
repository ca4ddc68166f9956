// bench --against: what another program printed beside what this one did; whatever that program does is told in one line.
#include "tests/inspector/cli/harness/files.h"
#include "tests/inspector/cli/harness/program.h"
#include "tests/support/ggml/released.h"

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include <csignal>

namespace schedscope::test {
namespace {

using nlohmann::json;
using ::testing::AllOf;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::StartsWith;

/// A model of some hundred kilobytes, and a script that says what it is told to.
class BenchAgainst : public ::testing::Test {
protected:
    BenchAgainst() : model_(folder_ / "m.gguf") { EXPECT_EQ(run({"synth", "llama", "--type", "q8_0", "-o", model_}).code, 0); }

    /// Of 24 and 6 tokens, twice.
    Outcome against(const std::string& command, const std::vector<std::string>& more = {},
                    const std::vector<std::string>& sizes = {"-p", "24", "-n", "6", "-r", "2"}) const {
        std::vector<std::string> arguments{"bench", "-m", model_, "--device", "cpu", "--against", command};
        arguments.insert(arguments.end(), sizes.begin(), sizes.end());
        arguments.insert(arguments.end(), more.begin(), more.end());
        return run(arguments);
    }
    static std::string printing(const std::string& text) { return "printf '%s\\n' '" + text + "'"; }

    Folder folder_;
    std::string model_;
};

const std::vector<std::string> once{"-p", "24", "-n", "6", "-r", "1"};
constexpr const char* rates = R"({"prefill_tok_s":100,"decode_tok_s":20.5,"also":"this"})";

TEST_F(BenchAgainst, TellsBothAndTheirRatio) {
    const Outcome outcome = against(printing(rates), {"--json", "-d", "0,40", "-t", "1"});
    ASSERT_EQ(outcome.code, 0) << outcome.err;
    EXPECT_EQ(outcome.err, "");
    const json result = json::parse(outcome.out);
    EXPECT_EQ(result["command"], printing(rates));
    ASSERT_EQ(result["against"].size(), 2U);
    int depth = 0;
    for (const json& row : result["against"]) {
        EXPECT_EQ(row["depth"], depth);
        EXPECT_EQ(row["threads"], 1);
        EXPECT_EQ(row["devices"], "CPU");
        for (const auto& [key, theirs] : {std::pair{"prompt_tokens_per_s", 100.0}, {"generation_tokens_per_s", 20.5}}) {
            EXPECT_EQ(row[key]["theirs"]["mean"], theirs);
            EXPECT_EQ(row[key]["theirs"]["deviation"], 0);
            const double ours = row[key]["ours"]["mean"];
            EXPECT_GT(ours, 0);
            EXPECT_NEAR(row[key]["ratio"]["mean"].get<double>() / (ours / theirs), 1, 1e-9);
            EXPECT_NEAR(row[key]["ratio"]["deviation"].get<double>() * theirs, row[key]["ours"]["deviation"].get<double>(),
                        1e-6 * ours);
        }
        EXPECT_GT(row["cpu_s"]["ours"]["mean"], 0);
        EXPECT_GT(row["share_of_flops"], 0);
        EXPECT_GT(row["share_of_reading"], 0);
        depth = 40;
    }
}

TEST_F(BenchAgainst, IsATableForPeople) {
    const Outcome outcome = against(printing(rates), {"-d", "7", "-t", "1"});
    ASSERT_EQ(outcome.code, 0) << outcome.err;
    const auto lines = lines_of(outcome.out);
    ASSERT_EQ(lines.size(), 6U);
    EXPECT_THAT(lines[2], AllOf(HasSubstr("ours"), HasSubstr("theirs"), HasSubstr("ours / theirs")));
    EXPECT_THAT(lines[3], AllOf(HasSubstr("pp24 @ d7"), HasSubstr("100 ± 0"), HasSubstr("tokens/s"), HasSubstr("rate")));
    EXPECT_THAT(lines[4], AllOf(HasSubstr("tg6 @ d7"), HasSubstr("20.5 ± 0.0"), HasSubstr("tokens/s")));
    EXPECT_THAT(lines[5], AllOf(HasSubstr("whole program @ d7"), HasSubstr("CPU s")));
}

TEST_F(BenchAgainst, GivesTheSettings) {
    const std::string seen = folder_ / "seen";
    const Outcome outcome = against("env | grep ^BENCH_ | sort >> " + seen + "; echo >> " + seen + "; " + printing(rates),
                                    {"-d", "5,6", "-t", "1"}, once);
    ASSERT_EQ(outcome.code, 0) << outcome.err;
    std::string expected;
    for (const char* depth : {"5", "6"}) {
        expected += std::string("BENCH_DEPTH=") + depth + "\nBENCH_GEN=6\nBENCH_MODEL=" + model_ +
                    "\nBENCH_PROMPT=24\nBENCH_THREADS=1\n\n";
    }
    EXPECT_EQ(read_bytes(seen), expected);
}

TEST_F(BenchAgainst, ReadsLlamaBench) {
    const auto test = [](int n_prompt, int n_gen, const char* depth, double rate) {
        return R"({"n_prompt":)" + std::to_string(n_prompt) + R"(,"n_gen":)" + std::to_string(n_gen) + depth + R"(,"avg_ts":)" +
               std::to_string(rate) + "}";
    };
    const auto rates_of = [&](const std::string& text, const char* depth) {
        const json row = json::parse(against(printing(text), {"--json", "-d", depth}).out)["against"][0];
        return std::pair(row["prompt_tokens_per_s"]["theirs"]["mean"].get<double>(),
                         row["generation_tokens_per_s"]["theirs"]["mean"].get<double>());
    };
    const std::string all = "[\n" + test(24, 6, R"(,"n_depth":8)", 1) + ",\n" + test(24, 0, R"(,"n_depth":0)", 2) + ",\n" +
                            test(24, 0, R"(,"n_depth":8)", 300.5) + "," + test(0, 6, R"(,"n_depth":8)", 40.25) + "]\n";
    EXPECT_EQ(rates_of(all, "8"), std::pair(300.5, 40.25));
    EXPECT_EQ(rates_of("[" + test(24, 0, "", 7) + "," + test(0, 6, "", 8) + "]", "0"), std::pair(7.0, 8.0)) << "older builds";
    const Outcome other = against(printing(all), {"-d", "9"});
    EXPECT_EQ(other.code, 3);
    EXPECT_THAT(other.err, EndsWith("has no test of n_prompt 24 alone at depth 9 with an avg_ts above 0\n"));
}

TEST_F(BenchAgainst, WantsOnlyWhatIsAskedFor) {
    const json row = json::parse(
        against(printing(R"({"decode_tok_s":3,"prefill_tok_s":null})"), {"--json"}, {"-p", "0", "-n", "6"}).out)["against"][0];
    EXPECT_TRUE(row["prompt_tokens_per_s"].is_null());
    EXPECT_TRUE(row["share_of_flops"].is_null());
    EXPECT_EQ(row["generation_tokens_per_s"]["theirs"]["mean"], 3);
}

TEST_F(BenchAgainst, CountsTheTimeOfAllThatTheCommandStarts) {
    const auto theirs = [&](const std::string& before) {
        return json::parse(against(before + printing(rates), {"--json"}, once).out)["against"][0]["cpu_s"]["theirs"]["mean"]
            .get<double>();
    };
    // A process of its own that computes: many times what a shell takes to begin and to print.
    EXPECT_GT(theirs("sh -c 'i=0; while [ $i -lt 1000000 ]; do i=$((i+1)); done'; "), 5 * theirs(""));
}

TEST_F(BenchAgainst, SaysInOneLineWhatWentWrong) {
    const std::vector<std::tuple<std::string, int, std::string>> cases = {
        {"exit 3", 4, "it failed with exit code 3"},
        {"echo no such model >&2; exit 1", 4, "it failed with exit code 1 (no such model)"},
        {"/no/such/program", 4, "it failed with exit code 127 ("},
        {"kill -9 $$", 4, "it was killed: Killed"},
        {"kill -15 $$", 4, "it was killed: Terminated"},
        {"true", 3, R"(it printed nothing; {"prefill_tok_s":…,"decode_tok_s":…} is wanted)"},
        {"echo 512 tokens a second", 3, "what it printed is no JSON object; "},
        {"echo 512", 3, "what it printed is no JSON object; "},
        {printing(std::string(rates) + "}"), 3, "what it printed is no JSON object; "},
        {"echo {}", 3, "what it printed has no prefill_tok_s above 0"},
        {printing(R"({"prefill_tok_s":1,"decode_tok_s":"2"})"), 3, "what it printed has no decode_tok_s above 0"},
        {printing(R"({"prefill_tok_s":-1,"decode_tok_s":2})"), 3, "what it printed has no prefill_tok_s above 0"},
        {"echo []", 3, "has no test of n_prompt 24 alone at depth 0"},
        {"yes", 3, "it printed more than 1.0 MiB"},
    };
    for (const auto& [command, code, why] : cases) {
        const Outcome outcome = against(command);
        EXPECT_EQ(outcome.code, code) << command;
        EXPECT_EQ(outcome.out, "") << command;
        EXPECT_EQ(count(outcome.err, "\n"), 1U) << outcome.err;
        EXPECT_THAT(outcome.err, AllOf(StartsWith("schedscope: --against " + command + ": "), HasSubstr(why)));
    }
}

TEST_F(BenchAgainst, SaysWhatOursFailedAtAsItWouldItself) {
    const Outcome outcome = against("rm -f " + model_ + "; " + printing(rates)); // then theirs is first
    EXPECT_EQ(outcome.code, 3);
    EXPECT_EQ(outcome.out, "");
    EXPECT_EQ(outcome.err, run({"gguf", model_}).err);
}

TEST_F(BenchAgainst, EndsWithAllThatItStartedAtCtrlC) {
    const std::string begun = folder_ / "begun";
    Program program({"bench", "-m", model_, "-p", "2", "-n", "1", "--device", "cpu", "--against",
                     "sleep 1000 & echo $! > " + begun + ".new; mv " + begun + ".new " + begun + "; wait"});
    while (!exists(begun) && !program.has_ended()) {
        breathe();
    }
    const pid_t started = std::stoi(read_bytes(begun));
    program.signal(SIGINT);
    const Outcome outcome = program.wait();
    EXPECT_EQ(outcome.code, 130);
    EXPECT_EQ(outcome.out + outcome.err, "");
    const auto runs = [&] { // an end that nobody waited for is one, too
        const std::string path = "/proc/" + std::to_string(started) + "/stat";
        const std::string stat = exists(path) ? read_bytes(path) : "";
        return !stat.empty() && stat.find(") Z") == std::string::npos;
    };
    while (runs()) {
        breathe();
    }
}

/// A released build of llama.cpp through its npm client.
TEST_F(BenchAgainst, MeasuresAReleasedBuild) {
    NEEDS_RELEASED_BUILDS();
    std::string command;
    for (const std::string& word : measure_rates(released_builds().back())) {
        command += (command.empty() ? "'" : " '") + word + "'";
    }
    const Outcome outcome = against(command, {"--json", "-d", "40", "-t", "1"}, once);
    ASSERT_EQ(outcome.code, 0) << outcome.err;
    const json row = json::parse(outcome.out)["against"][0];
    EXPECT_GT(row["prompt_tokens_per_s"]["theirs"]["mean"], 0);
    EXPECT_GT(row["generation_tokens_per_s"]["theirs"]["mean"], 0);
    EXPECT_GT(row["cpu_s"]["theirs"]["mean"], 0);
    EXPECT_EQ(against("BENCH_MODEL=/no/such/model " + command, {}, once).code, 4);
}

} // namespace
} // namespace schedscope::test
