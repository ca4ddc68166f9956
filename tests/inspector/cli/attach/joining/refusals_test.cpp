// What can't be joined is left alone, with one line that says why and what helps.
#include "inspector/cli/attach/joining/join_process.h"
#include "inspector/cli/output/lines.h"
#include "tests/inspector/cli/attach/joining/running.h"
#include "tests/inspector/cli/harness/files.h"
#include "tests/inspector/cli/harness/program.h"

#include <csignal>
#include <filesystem>
#include <gmock/gmock.h>
#include <optional>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

namespace schedscope::test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

class JoinRefused : public ::testing::Test {
protected:
    void SetUp() override { NEEDS_JOINING(); }
    void expect_refusal(pid_t id, const std::string& why) const {
        const Outcome outcome = run({"attach", std::to_string(id), "-o", folder / "x.trace"});
        EXPECT_EQ(outcome.code, 4) << outcome.err;
        EXPECT_THAT(outcome.err, AllOf(StartsWith("schedscope: process " + std::to_string(id) + ": "), HasSubstr(why)));
        EXPECT_EQ(count(outcome.err, "\n"), 1U) << outcome.err;
        EXPECT_FALSE(exists(folder / "x.trace"));
    }
    /// Its threads work. None waits for events: Linux ends epoll_wait with EINTR when somebody stops the process.
    void started_busy(std::optional<Running>& program) const {
        const std::string counters = folder / "counters";
        program.emplace(std::vector<std::string>{paths::program("busy_program"), counters}, folder / "out");
        while (!exists(counters) || read_bytes(counters).find_first_not_of('\0') == std::string::npos) {
            breathe();
        }
    }

    const Folder folder;
};

TEST_F(JoinRefused, WhatIsNoProgramOnGgml) {
    expect_refusal(1 << 22, "there is no such process");
    Running none({"cat"}, folder / "out");
    while (read_bytes("/proc/" + std::to_string(none.id()) + "/comm") != "cat\n") { // until it is that program
        breathe();
    }
    expect_refusal(none.id(), "it has no library of ggml");
    Running fixed({paths::program("static_program"), "wait"}, folder / "out");
    while (read_bytes("/proc/" + std::to_string(fixed.id()) + "/comm") != "static_program\n") {
        breathe();
    }
    expect_refusal(fixed.id(), "linked statically");
    EXPECT_EQ(none.close_input_and_wait(), 0);
    EXPECT_EQ(fixed.close_input_and_wait(), 0);
}

TEST_F(JoinRefused, WhatIsStopped) {
    std::optional<Running> program;
    started_busy(program);
    ASSERT_EQ(kill(program->id(), SIGSTOP), 0);
    siginfo_t stopped = {};
    ASSERT_EQ(waitid(P_PID, program->id(), &stopped, WSTOPPED), 0); // all of its threads
    expect_refusal(program->id(), "kill -CONT " + std::to_string(program->id()));
    kill(program->id(), SIGCONT);
    EXPECT_EQ(program->close_input_and_wait(), 0);
}

TEST_F(JoinRefused, WhatADebuggerHolds) {
    std::optional<Running> program;
    started_busy(program);
    std::vector<pid_t> threads;
    for (const auto& thread : std::filesystem::directory_iterator("/proc/" + std::to_string(program->id()) + "/task")) {
        threads.push_back(std::stoi(thread.path().filename()));
    }
    for (const pid_t id : threads) {
        ASSERT_EQ(ptrace(PTRACE_SEIZE, id, nullptr, nullptr), 0);
        ASSERT_EQ(ptrace(PTRACE_INTERRUPT, id, nullptr, nullptr), 0);
        ASSERT_EQ(waitpid(id, nullptr, __WALL), id);
    }
    expect_refusal(program->id(), "process " + std::to_string(getpid()) + " holds it already");
    for (const pid_t id : threads) {
        EXPECT_EQ(ptrace(PTRACE_DETACH, id, nullptr, nullptr), 0);
    }
    EXPECT_EQ(program->close_input_and_wait(), 0);
}

TEST_F(JoinRefused, WhatBelongsToSomebodyElse) {
    if (geteuid() != 0 || access("/usr/bin/setpriv", X_OK) != 0) {
        GTEST_SKIP() << "only root starts programs of two users, with setpriv";
    }
    std::optional<Running> program;
    started_busy(program);
    std::filesystem::permissions(folder / "", std::filesystem::perms::all);
    Running other({"/usr/bin/setpriv", "--reuid=65534", "--clear-groups", program_path(), "attach", std::to_string(program->id()),
                   "-o", folder / "x.trace"},
                  folder / "said");
    EXPECT_EQ(other.wait(), 4);
    EXPECT_THAT(read_bytes(folder / "said"), HasSubstr(": it runs as root; run schedscope as that user, or with sudo\n"));
    EXPECT_EQ(program->close_input_and_wait(), 0);
}

TEST_F(JoinRefused, WrongUsage) {
    EXPECT_EQ(run({"attach"}).code, 2);
    EXPECT_EQ(run({"attach", "me", "-o", folder / "x.trace"}).code, 2);
    EXPECT_EQ(run({"attach", "0", "-o", folder / "x.trace"}).code, 2);
    write_bytes(folder / "text", "no trace");
    EXPECT_EQ(run({"attach", std::to_string(getpid()), "-o", folder / "text"}).code, 2);
}

TEST(JoinAgain, IsTriedWhileSomethingHasNotEndedAndNotForEver) {
    constexpr int most = 5;
    int n_tries = 0, n_waits = 0;
    const auto tried = [&](int busy_until, int waits_left) {
        n_tries = n_waits = 0;
        return try_while_busy([&] { return ++n_tries; }, [&](int n) { return n < busy_until; },
                              [&] { return ++n_waits <= waits_left; }, most);
    };
    EXPECT_EQ(tried(1, most), 1);
    EXPECT_EQ(n_waits, 0);
    EXPECT_EQ(tried(3, most), 3);
    EXPECT_EQ(n_waits, 2);
    EXPECT_EQ(tried(100, 100), most);
    EXPECT_EQ(tried(100, 1), 2) << "the process ended";
}

TEST(LastLine, NamesNothingNextOfATraceWithoutEvaluations) {
    const auto told = [](int64_t n_evaluations) {
        ::testing::internal::CaptureStderr();
        tell_of_trace("x.trace", n_evaluations);
        return ::testing::internal::GetCapturedStderr();
    };
    EXPECT_EQ(told(0), "wrote x.trace: 0 evaluations\n");
    EXPECT_EQ(told(2), "wrote x.trace: 2 evaluations; next: schedscope inspect x.trace\n");
}

} // namespace
} // namespace schedscope::test
