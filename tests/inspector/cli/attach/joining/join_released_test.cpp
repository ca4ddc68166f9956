// Released builds of llama.cpp, as users have them, joined while they generate.
#include "tests/inspector/cli/attach/joining/running.h"
#include "tests/inspector/cli/harness/files.h"
#include "tests/inspector/cli/harness/program.h"
#include "tests/support/ggml/released.h"
#include "tests/support/paths.h"
#include "tests/support/terminal.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <csignal>
#include <fcntl.h>
#include <filesystem>
#include <gmock/gmock.h>
#include <optional>
#include <unistd.h>

namespace schedscope::test {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;
using ::testing::Not;

/// A build on one of its backends.
struct Driven {
    Released build;
    bool vulkan = false;
};
void PrintTo(const Driven& driven, std::ostream* out) { *out << driven.build.version; }

/// The oldest and the newest; of the oldest not on Vulkan, where it ends by itself now and then.
std::vector<Driven> driven_builds() {
    const std::vector<Released> all = released_builds();
    std::vector<Driven> found;
    for (const size_t i : {size_t{0}, all.size() - 1}) {
        if (i < all.size() && (found.empty() || all.size() > 1)) {
            found.push_back({all[i], false});
            if (all[i].vulkan && i + 1 == all.size()) {
                found.push_back({all[i], true});
            }
        }
    }
    return found;
}

class JoinReleased : public ::testing::TestWithParam<Driven> {
protected:
    void SetUp() override {
        NEEDS_SHARED();
        NEEDS_JOINING();
        setenv("GGML_VK_VISIBLE_DEVICES", "0", 1);   // accepts a software driver
        setenv("LLAMA_GRAPH_REUSE_DISABLE", "1", 1); // each token is a plan
    }
    void TearDown() override {
        unsetenv("GGML_VK_VISIBLE_DEVICES");
        unsetenv("LLAMA_GRAPH_REUSE_DISABLE");
    }
    /// Generates 40 tokens, and waits behind the tenth, twentieth and thirtieth.
    std::vector<std::string> command(const std::string& ticks, bool held) const {
        std::vector<std::string> options = {"--tokens", "40", "--ticks", ticks};
        if (GetParam().vulkan) {
            options.insert(options.end(), {"--gpu", "vulkan", "--layers", "3"});
        }
        if (held) {
            options.insert(options.end(), {"--hold", "10:" + go(10) + ",20:" + go(20) + ",30:" + go(30)});
        }
        return drive(GetParam().build, paths::shared("models/stories260K-f32.gguf"), options);
    }
    std::string go(int token) const { return folder / ("go" + std::to_string(token)); }
    /// From its twentieth token to its end, as without anybody.
    void expect_goes_on_alone(const std::string& expected) {
        write_bytes(go(20), "");
        wait_for_token(30);
        // It has called ggml since, and nothing of what is shared is there.
        EXPECT_THAT(read_bytes("/proc/" + std::to_string(program->id()) + "/maps"), Not(HasSubstr("/memfd:schedscope")));
        write_bytes(go(30), "");
        EXPECT_EQ(program->wait(), 0) << read_bytes(folder / "out");
        EXPECT_EQ(read_bytes(folder / "out"), expected);
    }
    /// What it says without anybody looking on.
    std::string plain() const {
        int code = -1;
        for (int attempt = 0; attempt < 5 && code != 0; ++attempt) {
            Running alone(command(folder / "plain_ticks", false), folder / "plain");
            code = alone.wait();
        }
        EXPECT_EQ(code, 0) << read_bytes(folder / "plain");
        return read_bytes(folder / "plain");
    }
    bool has_token(int n) const {
        const std::string ticks = exists(folder / "ticks") ? read_bytes(folder / "ticks") : "";
        return std::count(ticks.begin(), ticks.end(), '|') >= n;
    }
    /// It has said ten tokens, and waits. Old builds crash by themselves on some drivers: then it is started once more.
    void start() {
        constexpr int most_attempts = 5;
        for (int attempt = 0; attempt < most_attempts && !has_token(10); ++attempt) {
            std::filesystem::remove(folder / "ticks");
            program.emplace(command(folder / "ticks", true), folder / "out");
            while (!has_token(10) && !program->has_ended()) {
                breathe();
            }
        }
        wait_for_token(10);
    }
    void wait_for_token(int n) {
        while (!has_token(n)) {
            ASSERT_FALSE(program->has_ended()) << read_bytes(folder / "out");
            breathe();
        }
    }
    /// It is joined when this returns.
    void attach(const std::string& trace, const std::vector<std::string>& bounds = {}) {
        said = trace + ".said";
        const int err = open(said.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
        std::vector<std::string> arguments = {"attach", std::to_string(program->id()), "-o", trace};
        arguments.insert(arguments.end(), bounds.begin(), bounds.end());
        schedscope.emplace(arguments, Start{.err_descriptor = err});
        close(err);
        while (read_bytes(said).find("joined process") == std::string::npos) {
            ASSERT_FALSE(schedscope->has_ended()) << read_bytes(said);
            breathe();
        }
    }
    /// Every plan of it was made again as ggml made it. How many there are.
    static int64_t n_reproduced(const std::string& trace) {
        const Outcome shown = run({"show", trace, "--what", "verdicts", "--json"});
        const json object = json::parse(shown.out, nullptr, false);
        if (shown.code != 0 || !object.is_object()) {
            ADD_FAILURE() << shown.err;
            return 0;
        }
        for (const json& verdict : object["verdicts"]) {
            EXPECT_EQ(verdict["decisions"], verdict["identical"]) << verdict;
            EXPECT_GT(verdict["decisions"], 100) << verdict;
        }
        return std::ssize(object["verdicts"]);
    }

    const Folder folder;
    std::string said;
    std::optional<Running> program;
    std::optional<Program> schedscope;
};
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(JoinReleased);
INSTANTIATE_TEST_SUITE_P(Of, JoinReleased, ::testing::ValuesIn(driven_builds()), [](const auto& info) {
    return as_test_name(info.param.build.version) + (info.param.vulkan ? "_vulkan" : "_cpu");
});

TEST_P(JoinReleased, SaysTheSameAndIsReproduced) {
    const std::string expected = plain();
    start();
    attach(folder / "x.trace");
    for (const int token : {10, 20, 30}) {
        write_bytes(go(token), "");
    }
    EXPECT_EQ(program->wait(), 0) << read_bytes(folder / "out");
    EXPECT_EQ(schedscope->wait().code, 0) << read_bytes(said);
    EXPECT_EQ(read_bytes(folder / "out"), expected);
    EXPECT_THAT(read_bytes(said), HasSubstr("wrote " + (folder / "x.trace")));
    EXPECT_THAT(read_bytes(said), Not(HasSubstr("killed")));
    EXPECT_GE(n_reproduced(folder / "x.trace"), 28); // an older build tells where its memory is with its first plan
    EXPECT_THAT(run({"show", folder / "x.trace"}).out,
                HasSubstr("older_buffers.0  made before the recording began: they may be larger"));
    EXPECT_EQ(json::parse(run({"show", folder / "x.trace", "--json"}).out)["compute_bytes"], nullptr);
}

TEST_P(JoinReleased, IsLeftAndJoinedAgain) {
    const std::string expected = plain();
    start();
    for (const int token : {10, 20, 30}) {
        SCOPED_TRACE(token);
        wait_for_token(token);
        if (token > 10) {
            schedscope->signal(token == 20 ? SIGINT : SIGTERM);
            EXPECT_EQ(schedscope->wait().code, 130) << read_bytes(said);
            EXPECT_GE(n_reproduced(folder / (std::to_string(token - 10) + ".trace")), 7);
        }
        attach(folder / (std::to_string(token) + ".trace"));
        write_bytes(go(token), "");
    }
    EXPECT_EQ(program->wait(), 0) << read_bytes(folder / "out");
    EXPECT_EQ(schedscope->wait().code, 0) << read_bytes(said);
    EXPECT_EQ(read_bytes(folder / "out"), expected);
    EXPECT_GE(n_reproduced(folder / "30.trace"), 7);
}

/// It waits for its twentieth token then: the end of the time is not told by any record.
TEST_P(JoinReleased, IsLeftWhenTheTimeIsOver) {
    const std::string expected = plain();
    start();
    attach(folder / "x.trace", {"--for", "4s"});
    write_bytes(go(10), "");
    EXPECT_EQ(schedscope->wait().code, 0) << read_bytes(said);
    EXPECT_THAT(read_bytes(said), HasSubstr("Ctrl-C leaves it as it was, and so does the end of 4s\n"));
    EXPECT_THAT(read_bytes(said), HasSubstr("\nwrote " + (folder / "x.trace") + ": "));
    EXPECT_GE(n_reproduced(folder / "x.trace"), 1); // all ten, where the machine is not slower than that
    EXPECT_FALSE(program->has_ended());
    expect_goes_on_alone(expected);
}

TEST_P(JoinReleased, GoesOnWithoutAKilledSchedscope) {
    const std::string expected = plain();
    start();
    attach(folder / "x.trace");
    write_bytes(go(10), "");
    wait_for_token(20);
    while (count(run({"show", folder / "x.trace", "--what", "verdicts"}).out, "reproduced") == 0) {
        ASSERT_FALSE(schedscope->has_ended()) << read_bytes(said); // what it has read is stored a moment later
    }
    schedscope->signal(SIGKILL);
    EXPECT_EQ(schedscope->wait().code, 256 + SIGKILL);
    expect_goes_on_alone(expected);
    EXPECT_GE(n_reproduced(folder / "x.trace"), 1);
}

TEST_P(JoinReleased, LeavesWholePlansWhenItIsKilled) {
    start();
    attach(folder / "x.trace");
    write_bytes(go(10), "");
    wait_for_token(20);
    kill(program->id(), SIGKILL);
    EXPECT_EQ(schedscope->wait().code, 0) << read_bytes(said);
    EXPECT_THAT(read_bytes(said), HasSubstr("killed; what was complete is here"));
    EXPECT_FALSE(exists(folder / "x.trace-wal"));
    const Outcome exported = run({"export", folder / "x.trace", "--jsonl", "-"});
    EXPECT_GE(count(exported.out, "\"evaluation_begin\""), 8U);
    EXPECT_GE(count(exported.out, "\"plan_begin\""), 1U); // equal ones are there once
    EXPECT_EQ(count(exported.out, "\"plan_begin\""), count(exported.out, "\"plan_end\""));
}

/// Of builds that reuse a plan as long as its graph fits: there is nothing to see until a new prompt, and the inspector says so.
TEST_P(JoinReleased, SaysInTheInspectorThatItRunsByAnEarlierPlan) {
    unsetenv("LLAMA_GRAPH_REUSE_DISABLE");
    if (GetParam().build.version != driven_builds().back().build.version) {
        GTEST_SKIP() << "this build makes a plan for each token";
    }
    const std::string expected = plain();
    start();
    Terminal t(30, 100, {program_path(), "attach", std::to_string(program->id())});
    ASSERT_TRUE(t.shows("nothing is planned yet")) << t.text();
    write_bytes(go(10), "");
    EXPECT_TRUE(t.shows("it runs by a plan made before schedscope joined; a new prompt makes another")) << t.text();
    EXPECT_TRUE(t.shows("no steps yet ─ RUNNING")) << t.text();
    t.press("q");
    EXPECT_EQ(t.wait_for_exit(), 4) << t.text();
    write_bytes(go(20), "");
    write_bytes(go(30), "");
    EXPECT_EQ(program->wait(), 0) << read_bytes(folder / "out");
    EXPECT_EQ(read_bytes(folder / "out"), expected);
}

TEST_P(JoinReleased, IsLookedAtAndLeftInTheInspector) {
    const std::string expected = plain();
    start();
    Terminal t(30, 140, {program_path(), "attach", std::to_string(program->id())});
    ASSERT_TRUE(t.shows("nothing is planned yet")) << t.text();
    for (const int token : {10, 20, 30}) {
        write_bytes(go(token), "");
    }
    ASSERT_TRUE(t.shows("step 0/0")) << t.text(); // held before the first plan that it makes
    EXPECT_FALSE(program->has_ended());
    t.press("q");
    EXPECT_EQ(t.wait_for_exit(), 0) << t.text();
    EXPECT_THAT(t.text(), HasSubstr("goes on without schedscope"));
    EXPECT_EQ(program->wait(), 0) << read_bytes(folder / "out");
    EXPECT_EQ(read_bytes(folder / "out"), expected);
}

} // namespace
} // namespace schedscope::test
