// A child that gets a memory file, gives one back, and ends well or badly.
#include "tests/runtime/system/process/children.h"

#include "runtime/system/process/child_process.h"
#include "runtime/system/process/program_role.h"

#include <gmock/gmock.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <stdexcept>
#include <sys/wait.h>
#include <thread>

namespace schedscope::test {
namespace {

constexpr int64_t long_enough = 300;

MemoryFile file_of(const std::string& text) {
    MemoryFile file("in");
    EXPECT_TRUE(file.append(std::as_bytes(std::span(text))));
    EXPECT_TRUE(file.finish());
    return file;
}

std::string text_of(const MemoryFile& file) {
    std::string text(static_cast<size_t>(file.size()), '\0');
    EXPECT_TRUE(file.read(0, std::as_writable_bytes(std::span(text))));
    return text;
}

void expect_no_child_left() {
    EXPECT_EQ(waitpid(-1, nullptr, WNOHANG), -1) << "a child is left";
    EXPECT_EQ(errno, ECHILD);
}

ChildEnd run(const std::vector<std::string>& command, int64_t seconds = long_enough, std::function<bool()> cancelled = {}) {
    const MemoryFile in = file_of("");
    const MemoryFile out("out");
    const ChildEnd end = run_child({command, seconds, std::move(cancelled)}, in, out);
    expect_no_child_left();
    return end;
}

TEST(ChildProcess, ReadsOneFileAndWritesAnother) {
    const std::string text(100'000, 'x');
    const MemoryFile in = file_of(text);
    const MemoryFile out("out");
    const ChildEnd end = run_child({own_command("--copy"), long_enough, {}}, in, out);
    EXPECT_EQ(end.how, ChildEnd::How::exited);
    EXPECT_EQ(end.code, 0);
    EXPECT_EQ(end.said, "");
    std::string copy = text_of(out);
    EXPECT_EQ(copy, text);
    EXPECT_FALSE(out.read(1, std::as_writable_bytes(std::span(copy)))) << "there is a byte less";
}

TEST(ChildProcess, CanNotChangeWhatItReads) {
    const MemoryFile in = file_of("once");
    const ChildEnd end = run_child({own_command("--change-input"), long_enough, {}}, in, MemoryFile("out"));
    EXPECT_EQ(end.code, was_refused);
    EXPECT_EQ(end.said, "Operation not permitted");
    EXPECT_EQ(in.size(), 4);
}

TEST(ChildProcess, SaysOneLineWithoutControlCharacters) {
    const ChildEnd end = run(own_command("--complain"));
    EXPECT_EQ(end.how, ChildEnd::How::exited);
    EXPECT_EQ(end.code, 7);
    EXPECT_EQ(end.said, "it is ?[31mred");
    EXPECT_FALSE(end.interrupted());
}

TEST(ChildProcess, ThatCrashesIsToldBySignal) {
    const ChildEnd end = run(own_command("--crash"));
    EXPECT_EQ(end.how, ChildEnd::How::killed);
    EXPECT_EQ(end.code, SIGSEGV);
    EXPECT_EQ(end.signal_name(), "Segmentation fault");
    EXPECT_FALSE(end.interrupted());
}

TEST(ChildProcess, HasTheEnvironmentThatItIsGiven) {
    const MemoryFile in = file_of(""), out("out");
    setenv("SCHEDSCOPE_CHILD_A", "old", 1);
    setenv("SCHEDSCOPE_CHILD_B", "kept", 1);
    ChildCommand command{{"/bin/sh", "-c", "echo $SCHEDSCOPE_CHILD_A $SCHEDSCOPE_CHILD_B"}, long_enough, {}};
    command.environment = {"SCHEDSCOPE_CHILD_A=new"};
    EXPECT_EQ(run_child(command, in, out).code, 0);
    EXPECT_EQ(text_of(out), "new kept\n");
    unsetenv("SCHEDSCOPE_CHILD_A");
    unsetenv("SCHEDSCOPE_CHILD_B");
}

TEST(ChildProcess, SaysWhatItTookOfAProcessor) {
    EXPECT_GT(run({"/bin/sh", "-c", "i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done"}).processor_s,
              run({"/bin/sh", "-c", ":"}).processor_s);
}

TEST(ChildProcess, IsEndedWithTheGroupThatItLeads) {
    const MemoryFile in = file_of(""), out("out");
    ChildCommand command{{"/bin/sh", "-c", "sleep 1000 & echo $!; wait"}, long_enough, [&] { return out.size() > 0; }};
    command.as_group = true;
    EXPECT_EQ(run_child(command, in, out).how, ChildEnd::How::cancelled);
    const std::string process = "/proc/" + std::to_string(std::stoi(text_of(out))) + "/stat";
    const auto runs = [&] { // one that ended and nobody waited for is there as Z
        std::ifstream file(process);
        const std::string stat{std::istreambuf_iterator<char>(file), {}};
        return !stat.empty() && stat.find(") Z") == std::string::npos;
    };
    while (runs()) {
        std::this_thread::yield();
    }
}

TEST(ChildProcess, ThatIsAskedToEndWasInterrupted) { EXPECT_TRUE(run(own_command("--interrupted")).interrupted()); }

TEST(ChildProcess, ThatIsStuckIsEndedAtTheLimit) {
    for (const int64_t seconds : {0, 1}) {
        EXPECT_EQ(run(own_command("--wait"), seconds).how, ChildEnd::How::too_late);
    }
}

TEST(ChildProcess, ThatHidesItsEndIsEndedAtTheLimit) {
    std::vector<std::string> command = own_command("--attempt");
    command.insert(command.end(), {"no filters", "memory", "wait without end"});
    EXPECT_EQ(run(command, 1).how, ChildEnd::How::too_late);
}

TEST(ChildProcess, ThatIsCancelledIsEnded) {
    const ChildEnd end = run(own_command("--wait"), long_enough, [asked = 0]() mutable { return ++asked == 2; });
    EXPECT_EQ(end.how, ChildEnd::How::cancelled);
    EXPECT_TRUE(end.interrupted());
}

TEST(ChildProcess, IsGoneWhenItsOwnerLeavesByAnError) {
    EXPECT_THROW(run(own_command("--wait"), long_enough, []() -> bool { throw std::runtime_error("leaving"); }),
                 std::runtime_error);
    expect_no_child_left();
}

TEST(ChildProcess, OfWhoseEndNothingIsKnownHasFailed) {
    std::signal(SIGCHLD, SIG_IGN);
    const ChildEnd end = run(own_command("--copy"));
    std::signal(SIGCHLD, SIG_DFL);
    EXPECT_EQ(end.how, ChildEnd::How::exited);
    EXPECT_NE(end.code, 0);
}

TEST(ChildProcess, ThatIsNoProgramIsNotStarted) {
    const ChildEnd end = run({"/nowhere/program"});
    EXPECT_EQ(end.how, ChildEnd::How::not_started);
    EXPECT_EQ(end.said, "No such file or directory");
    EXPECT_EQ(run({}).how, ChildEnd::How::not_started);
}

} // namespace
} // namespace schedscope::test
