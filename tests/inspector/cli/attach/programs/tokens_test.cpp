// Two hundred greedy steps say the same tokens whoever looks on: recorded and stepped, from the start and joined.
#include "tests/inspector/cli/attach/joining/running.h"
#include "tests/inspector/cli/attach/programs/asked.h"
#include "tests/inspector/cli/harness/files.h"
#include "tests/inspector/cli/harness/program.h"
#include "tests/support/ggml/released.h"
#include "tests/support/paths.h"
#include "tests/support/terminal.h"

#include <algorithm>
#include <cstdlib>
#include <fcntl.h>
#include <filesystem>
#include <gmock/gmock.h>
#include <iostream>
#include <optional>
#include <unistd.h>

namespace schedscope::test {
namespace {

using ::testing::HasSubstr;

constexpr int n_greedy = 200, held_behind = 3;

struct Looked {
    bool joined, stepped;
};

class GreedyTokens : public ::testing::TestWithParam<Looked> {
protected:
    void SetUp() override {
        NEEDS_SHARED();
        NEEDS_RELEASED_BUILDS();
        if (GetParam().joined) {
            NEEDS_JOINING();
            setenv("LLAMA_GRAPH_REUSE_DISABLE", "1", 1); // else it has made all of its plans by then
        }
    }
    void TearDown() override { unsetenv("LLAMA_GRAPH_REUSE_DISABLE"); }
    std::vector<std::string> command(const std::string& result, bool held) const {
        std::vector<std::string> options = {
            "--tokens", std::to_string(n_greedy), "--context", "256", "--threads", "1", "--result", result,
            "--ticks",  result + ".ticks"};
        if (held) {
            options.insert(options.end(), {"--hold", std::to_string(held_behind) + ":" + go});
        }
        return drive(released_builds().back(), paths::shared("models/stories260K-f32.gguf"), options);
    }
    int64_t said() const {
        const std::string ticks = exists(result + ".ticks") ? read_bytes(result + ".ticks") : "";
        return std::count(ticks.begin(), ticks.end(), '|');
    }
    /// It has said some tokens, and waits.
    void start(std::optional<Running>& program) const {
        program.emplace(command(result, true), folder / "said");
        while (said() < held_behind) {
            ASSERT_FALSE(program->has_ended()) << read_bytes(folder / "said");
            breathe();
        }
    }

    void record() const {
        std::vector<std::string> arguments = {"record", "--force", "-o", trace, "--"};
        for (const std::string& word : command(result, false)) {
            arguments.push_back(word);
        }
        const Outcome outcome = run(arguments);
        EXPECT_EQ(outcome.code, 0) << outcome.err;
    }
    void join_and_record() const {
        std::optional<Running> program;
        start(program);
        const std::string told = folder / "told";
        const int err = open(told.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
        Program attach({"attach", "--force", std::to_string(program->id()), "-o", trace}, {.err_descriptor = err});
        close(err);
        while (read_bytes(told).find("joined process") == std::string::npos) {
            ASSERT_FALSE(attach.has_ended()) << read_bytes(told);
            breathe();
        }
        write_bytes(go, "");
        EXPECT_EQ(program->wait(), 0) << read_bytes(folder / "said");
        EXPECT_EQ(attach.wait().code, 0) << read_bytes(told);
    }
    /// From one evaluation to the next, and behind those from split to split; then on by itself.
    void step(Terminal& t) const {
        const int n_steps = asked("SCHEDSCOPE_STEPS", 20);
        bool ended = false;
        for (int i = 0; i < n_steps && !ended; ++i) {
            const std::string before = t.line(0);
            t.press(i < n_steps / 2 ? "]" : "}");
            ASSERT_TRUE(t.wait_until([&] {
                ended = t.ended() || t.text().find("the program has ended") != std::string::npos;
                return ended || (t.line(0) != before && t.line(0).find("HELD") != std::string::npos);
            })) << t.text();
        }
        if (!ended) {
            EXPECT_FALSE(exists(result)); // it was held
            t.press("c");
            ASSERT_TRUE(t.shows("the program has ended")) << t.text();
        }
        t.press("q");
        EXPECT_EQ(t.wait_for_exit(), 0) << t.text();
    }
    void inspect() const {
        std::vector<std::string> arguments = {program_path(), "inspect", "--"};
        for (const std::string& word : command(result, false)) {
            arguments.push_back(word);
        }
        Terminal t(30, 140, arguments);
        ASSERT_TRUE(t.shows("step 0/0")) << t.text();
        step(t);
    }
    void join_and_inspect() const {
        std::optional<Running> program;
        start(program);
        Terminal t(30, 140, {program_path(), "attach", std::to_string(program->id())});
        ASSERT_TRUE(t.shows("nothing is planned yet")) << t.text();
        write_bytes(go, "");
        ASSERT_TRUE(t.shows("step 0/0")) << t.text();
        step(t);
        EXPECT_EQ(program->wait(), 0) << read_bytes(folder / "said");
    }

    const Folder folder;
    const std::string trace = folder / "x.trace", result = folder / "result", go = folder / "go";
};
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(GreedyTokens);
INSTANTIATE_TEST_SUITE_P(Are, GreedyTokens,
                         ::testing::Values(Looked{false, false}, Looked{false, true}, Looked{true, false}, Looked{true, true}),
                         [](const auto& info) {
                             return std::string(info.param.joined ? "joined" : "launched") +
                                    (info.param.stepped ? "_stepped" : "_recorded");
                         });

TEST_P(GreedyTokens, TheSameWhoeverLooksOn) {
    Running alone(command(folder / "expected", false), folder / "said_alone");
    ASSERT_EQ(alone.wait(), 0) << read_bytes(folder / "said_alone");
    const std::string expected = read_bytes(folder / "expected");
    ASSERT_EQ(count(expected, " "), n_greedy - 1U);
    const int n_runs = asked("SCHEDSCOPE_RUNS", 1);
    int n_same = 0;
    for (int i = 0; i < n_runs && !HasFailure(); ++i) {
        SCOPED_TRACE(i);
        for (const std::string& old : {result, result + ".ticks", go}) {
            std::filesystem::remove(old);
        }
        if (GetParam().stepped) {
            GetParam().joined ? join_and_inspect() : inspect();
        } else {
            GetParam().joined ? join_and_record() : record();
        }
        EXPECT_EQ(exists(result) ? read_bytes(result) : "", expected);
        n_same += HasFailure() ? 0 : 1;
    }
    std::cout << "    " << n_same << " of " << n_runs << " runs said the same " << n_greedy << " tokens\n";
}

} // namespace
} // namespace schedscope::test
