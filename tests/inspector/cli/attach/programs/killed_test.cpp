// A program that is recorded, inspected or joined, and schedscope, either killed alone at a moment that a seed chose: what is in
// the trace is whole, the other one goes on or ends as it should, and nothing is left behind.
#include "tests/inspector/cli/attach/joining/running.h"
#include "tests/inspector/cli/attach/programs/asked.h"
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
#include <functional>
#include <gmock/gmock.h>
#include <iostream>
#include <optional>
#include <random>
#include <set>
#include <unistd.h>

namespace schedscope::test {
namespace {

using nlohmann::json;
using ::testing::AnyOf;
using ::testing::HasSubstr;

namespace fs = std::filesystem;

enum class Way : uint8_t { recorded, inspected, attached };
struct Victim {
    Way way;
    bool program; ///< else schedscope
};
std::string name_of(const ::testing::TestParamInfo<Victim>& info) {
    const Way way = info.param.way;
    return std::string(way == Way::recorded    ? "recorded"
                       : way == Way::inspected ? "inspected"
                                               : "attached") +
           (info.param.program ? "_program" : "_schedscope");
}

/// When it is killed, by how far it has come.
struct Moment {
    enum Kind : uint8_t { mapped, bytes, tokens } kind; ///< a library is there; so much is in the trace; so many tokens were said
    int64_t n = 0;
};
constexpr int n_tokens = 1500;            ///< which take longer than what schedscope keeps back
constexpr int64_t with_plans = 512 << 10; ///< bytes of a trace that has more in it than how it begins

Moment moment_of(std::mt19937& random) {
    switch (random() % 6) {
    case 0: return {Moment::mapped, 0};
    case 1:
    case 2: return {Moment::bytes, static_cast<int64_t>(random() % (2 << 20))};
    default: return {Moment::tokens, static_cast<int64_t>(random() % (n_tokens - 5))};
    }
}
std::string text_of(const Moment& moment) {
    return moment.kind == Moment::mapped  ? "once its library is there"
           : moment.kind == Moment::bytes ? "with " + std::to_string(moment.n) + " bytes in the trace"
                                          : "with " + std::to_string(moment.n) + " tokens";
}

int64_t size_of(const std::string& path) {
    std::error_code failed;
    const auto size = fs::file_size(path, failed);
    return failed ? 0 : static_cast<int64_t>(size);
}

class KilledAtAnyMoment : public ::testing::TestWithParam<Victim> {
protected:
    void SetUp() override {
        NEEDS_SHARED();
        NEEDS_RELEASED_BUILDS();
        if (GetParam().way == Way::attached) {
            NEEDS_JOINING();
        }
        setenv("LLAMA_GRAPH_REUSE_DISABLE", "1", 1); // each token is a plan
        fs::create_directory(temporary);
        setenv("TMPDIR", temporary.c_str(), 1);
        Running alone(command(folder / "expected", false), folder / "said_alone");
        EXPECT_EQ(alone.wait(), 0);
        expected = read_bytes(folder / "expected");
    }
    void TearDown() override {
        unsetenv("LLAMA_GRAPH_REUSE_DISABLE");
        unsetenv("TMPDIR");
    }
    std::vector<std::string> command(const std::string& result, bool held) const {
        const bool is_expected = result == folder / "expected";
        const int n = GetParam().program && !is_expected ? 100000 : n_tokens; // who is to be killed does not end before
        std::vector<std::string> options = {"--tokens", std::to_string(n), "--context", "2048", "--threads",
                                            "1",        "--result",        result};
        if (!is_expected) {
            options.insert(options.end(), {"--ticks", folder / "ticks"});
        }
        if (held) {
            options.insert(options.end(), {"--hold", "3:" + folder / "go"});
        }
        return drive(released_builds().back(), paths::shared("models/stories260K-f32.gguf"), options);
    }

    /// Both run, and schedscope is not further than to begin with it.
    void start() {
        const Way way = GetParam().way;
        std::vector<std::string> arguments = {way == Way::inspected ? "inspect" : "record", "-o", trace, "--"};
        for (const std::string& word : command(result, false)) {
            arguments.push_back(word);
        }
        const int err = open(said.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
        if (way == Way::recorded) {
            schedscope.emplace(arguments, Start{.err_descriptor = err});
        } else if (way == Way::inspected) {
            arguments.insert(arguments.begin(), program_path());
            terminal.emplace(30, 140, arguments);
        } else {
            program.emplace(command(result, true), folder / "said_program");
            wait_for([&] { return tokens() >= 3; });
            schedscope.emplace(std::vector<std::string>{"attach", std::to_string(program->id()), "-o", trace},
                               Start{.err_descriptor = err});
            program_id = program->id();
        }
        close(err);
        if (way != Way::attached) {
            std::vector<pid_t> started;
            wait_for([&] {
                started = children_of("self");
                started = started.empty() ? started : children_of(std::to_string(started.front()));
                return !started.empty();
            });
            ASSERT_EQ(started.size(), 1U);
            program_id = started.front();
        }
    }
    int64_t tokens() const {
        const std::string ticks = exists(folder / "ticks") ? read_bytes(folder / "ticks") : "";
        return std::count(ticks.begin(), ticks.end(), '|');
    }
    void wait_for(const std::function<bool()>& what) {
        if (terminal) { // which is read meanwhile
            terminal->wait_until([&] { return what() || terminal->ended(); });
            return;
        }
        while (!what() && !(schedscope && schedscope->has_ended()) && !(program && program->has_ended())) {
            breathe();
        }
    }
    bool has_mapped(const char* library) const {
        const std::string path = "/proc/" + std::to_string(program_id) + "/maps";
        return exists(path) && read_bytes(path).find(library) != std::string::npos;
    }
    void wait_for(const Moment& moment) {
        const bool attached = GetParam().way == Way::attached;
        if (moment.kind == Moment::mapped) {
            wait_for([&] { return has_mapped(attached ? "libschedscope" : "libggml"); });
        } else if (terminal) { // it is held before its first plan
            wait_for([&] { return terminal->text().find("step 0/0") != std::string::npos; });
            terminal->press("c");
        }
        if (attached) { // what it generates from then on is recorded
            wait_for(
                [&] { return moment.kind == Moment::mapped || read_bytes(said).find("joined process") != std::string::npos; });
            write_bytes(folder / "go", "");
        }
        if (moment.kind == Moment::bytes) {
            // Where the program is to live, it is a short one: what it has near its end is enough.
            wait_for([&] { return n_bytes() >= moment.n || (!GetParam().program && tokens() >= n_tokens - 5); });
        } else if (moment.kind == Moment::tokens) {
            wait_for([&] { return tokens() >= moment.n; });
        }
    }

    void kill_program() {
        kill(program_id, SIGKILL);
        if (terminal) {
            const auto says = [&](const char* what) { return terminal->text().find(what) != std::string::npos; };
            const auto is_over = [&] { // and where it was, nothing is left to run
                return terminal->ended() || says("the program has ended") || says("c does nothing here");
            };
            ASSERT_TRUE(terminal->wait_until([&] { return is_over() || says("HELD"); })) << terminal->text();
            terminal->press("c"); // what it sent before is shown first
            ASSERT_TRUE(terminal->wait_until(is_over)) << terminal->text();
            terminal->press("Q"); // also out of the page of what it wrote
            EXPECT_THAT(terminal->wait_for_exit(), AnyOf(128 + SIGKILL, 4)) << terminal->text();
        } else {
            const int code = schedscope->wait().code;
            EXPECT_THAT(code, AnyOf(GetParam().way == Way::attached ? 0 : 128 + SIGKILL, 4)) << read_bytes(said);
            if (exists(trace)) {
                EXPECT_THAT(read_bytes(said), HasSubstr("killed")); // else it ends as the program did, or says why there is none
            }
        }
        EXPECT_FALSE(exists(trace + "-wal"));
    }
    /// The program says all that it would have said.
    void kill_schedscope() {
        if (terminal) {
            terminal->send_signal(SIGKILL);
            terminal->wait_for_exit();
        } else {
            schedscope->signal(SIGKILL);
        }
        const std::string process = "/proc/" + std::to_string(program_id) + "/cmdline";
        if (program) {
            EXPECT_EQ(program->wait(), 0) << read_bytes(folder / "said_program");
        } else {
            while (exists(process) && !read_bytes(process).empty()) { // not ours; a command line is what a dead one lacks
                breathe();
            }
        }
        EXPECT_EQ(exists(result) ? read_bytes(result) : "", expected);
    }

    /// How many plans are in it.
    int64_t expect_whole_trace() const {
        if (!exists(trace)) {
            return 0;
        }
        const Outcome exported = run({"export", trace, "--jsonl", "-"});
        EXPECT_EQ(exported.code, 0) << exported.err;
        const size_t n_begun = count(exported.out, "\"evaluation_begin\"");
        EXPECT_THAT(count(exported.out, "\"evaluation_end\""), AnyOf(n_begun, n_begun - 1)); // the last one may have been running
        EXPECT_EQ(count(exported.out, "\"plan_begin\""), count(exported.out, "\"plan_end\""));
        const json verdicts = json::parse(run({"show", trace, "--what", "verdicts", "--json"}).out, nullptr, false);
        EXPECT_TRUE(verdicts.is_object());
        const int64_t n = verdicts.is_object() ? verdicts.value("plans", -1) : 0;
        EXPECT_EQ(verdicts.is_object() ? verdicts.value("reproduced", -2) : 0, n);
        return n;
    }
    void expect_nothing_left() const {
        EXPECT_TRUE(fs::is_empty(temporary));
        for (const auto& entry : fs::directory_iterator("/dev/shm")) {
            EXPECT_EQ(entry.path().string().find("schedscope"), std::string::npos) << entry.path();
        }
        for (const auto& entry : fs::directory_iterator(folder / "")) {
            const std::string name = entry.path().filename().string();
            const bool of_trace = name.starts_with("x.trace") && (name == "x.trace" || !GetParam().program);
            EXPECT_TRUE(of_trace || own_files.contains(name)) << name;
        }
    }
    void clear() {
        program.reset();
        schedscope.reset();
        terminal.reset();
        for (const auto& entry : fs::directory_iterator(folder / "")) {
            if (entry.path() != temporary && entry.path() != folder / "expected") {
                fs::remove(entry.path());
            }
        }
    }

    const Folder folder;
    int64_t n_bytes() const { return size_of(trace) + size_of(trace + "-wal"); }

    const std::string trace = folder / "x.trace", result = folder / "result", said = folder / "said", temporary = folder / "tmp";
    const std::set<std::string> own_files = {"expected", "said_alone", "said", "said_program", "ticks", "result", "go", "tmp"};
    std::string expected;
    std::optional<Running> program;
    std::optional<Program> schedscope;
    std::optional<Terminal> terminal;
    pid_t program_id = -1;
};
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(KilledAtAnyMoment);
INSTANTIATE_TEST_SUITE_P(Of, KilledAtAnyMoment,
                         ::testing::Values(Victim{Way::recorded, true}, Victim{Way::recorded, false},
                                           Victim{Way::inspected, true}, Victim{Way::inspected, false},
                                           Victim{Way::attached, true}, Victim{Way::attached, false}),
                         name_of);

TEST_P(KilledAtAnyMoment, LeavesWholePlansTheOtherOneAndNothingElse) {
    const int seed = asked("SCHEDSCOPE_SEED", 1), n_moments = asked("SCHEDSCOPE_MOMENTS", 1);
    std::mt19937 random(static_cast<uint32_t>(seed) * 6 + static_cast<uint32_t>(GetParam().way) * 2 +
                        (GetParam().program ? 1 : 0));
    for (int i = 0; i < n_moments && !HasFailure(); ++i) {
        const Moment moment = moment_of(random);
        SCOPED_TRACE("seed " + std::to_string(seed) + ", moment " + std::to_string(i) + ": " + text_of(moment));
        start();
        wait_for(moment);
        const bool has_plans = moment.kind == Moment::bytes && n_bytes() >= with_plans;
        GetParam().program ? kill_program() : kill_schedscope();
        const int64_t plans = expect_whole_trace();
        EXPECT_TRUE(plans > 0 || !has_plans);
        expect_nothing_left();
        std::cout << "    killed " << text_of(moment) << ": " << plans << " plans\n";
        clear();
    }
}

} // namespace
} // namespace schedscope::test
