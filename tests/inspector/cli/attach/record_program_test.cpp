// `record -- PROGRAM` stands between a user and a program that knows nothing of it: whatever the program does, says and returns
// is as if it were not there.
#include "inspector/cli/attach/shared_pages.h"
#include "tests/inspector/cli/harness/files.h"
#include "tests/inspector/cli/harness/program.h"
#include "tests/support/attach/recorded_stream.h"

#include <csignal>
#include <fcntl.h>
#include <filesystem>
#include <gmock/gmock.h>
#include <sys/stat.h>
#include <sys/statvfs.h>

namespace schedscope::test {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;

class RecordProgram : public ::testing::Test {
protected:
    Outcome record(std::vector<std::string> command, const Start& start = {}) const {
        std::vector<std::string> arguments = {"record", "-o", trace, "--"};
        arguments.insert(arguments.end(), command.begin(), command.end());
        return run(arguments, start);
    }
    /// Says that nothing was recorded, in the one line that it ends with, and why.
    void expect_nothing(const Outcome& outcome, const std::string& why) const {
        EXPECT_EQ(outcome.code, 4);
        EXPECT_THAT(outcome.err, HasSubstr("schedscope: "));
        EXPECT_THAT(outcome.err, HasSubstr(why));
        EXPECT_FALSE(exists(trace));
    }

    const Folder folder;
    const std::string trace = folder / "x.trace";
};

TEST_F(RecordProgram, LeavesStreamsAndTheExitCodeAlone) {
    const Outcome outcome = record({"sh", "-c", "cat; echo said >&2; exit 7"}, {.in = "what comes in\n"});
    EXPECT_EQ(outcome.code, 7);
    EXPECT_EQ(outcome.out, "what comes in\n");
    EXPECT_THAT(outcome.err, StartsWith("said\nschedscope: sh: nothing was recorded: "));
    EXPECT_FALSE(exists(trace));
}

TEST_F(RecordProgram, SaysWhereNothingWasSeen) {
    expect_nothing(record({"sh", "-c", "exit 0"}), "--children");
    expect_nothing(record({folder / "nowhere"}), "can't be started: No such file or directory");
    write_bytes(folder / "text", "no program");
    expect_nothing(record({folder / "text"}), "can't be started: Permission denied");
    expect_nothing(record({paths::program("static_program")}), "linked statically");
}

TEST_F(RecordProgram, LeavesAloneWhatHasRightsOfItsOwn) {
    struct statvfs files = {};
    const std::string program = folder / "secure";
    std::filesystem::copy_file("/bin/true", program);
    if (statvfs(program.c_str(), &files) != 0 || (files.f_flag & ST_NOSUID) != 0 || chown(program.c_str(), -1, 65534) != 0 ||
        chmod(program.c_str(), 02755) != 0) {
        GTEST_SKIP() << "no program can be given rights of its own here";
    }
    expect_nothing(record({program}), "(AT_SECURE)");
}

TEST_F(RecordProgram, TakesWhatStandsBehindTheDashesAsItIs) {
    const Outcome outcome = record({"echo", "run", "-m", "--help", "-ngl", "--", "-o", "a b", ""});
    EXPECT_EQ(outcome.out, "run -m --help -ngl -- -o a b \n");
    const Outcome other = run({"record", "-o", trace, "-n", "5", "--", "true"});
    EXPECT_EQ(other.code, 2);
    EXPECT_THAT(other.err, HasSubstr("belongs to a run of a model, and 'true' is a program to record"));
    EXPECT_EQ(run({"record", "-o", trace, "-m", model(), "--sync"}).code, 2);
    write_bytes(folder / "text", "no trace");
    EXPECT_EQ(run({"record", "-o", folder / "text", "--", "true"}).code, 2);
}

TEST_F(RecordProgram, EndsAsTheProgramDoes) {
    EXPECT_EQ(record({"sh", "-c", "kill -TERM $$"}).code, 128 + SIGTERM);
    EXPECT_EQ(record({"sh", "-c", "kill -KILL $$"}).code, 128 + SIGKILL);
}

TEST_F(RecordProgram, PassesSignalsOn) {
    for (const int number : {SIGTERM, SIGINT, SIGUSR1, SIGHUP}) {
        const std::string ready = folder / ("ready" + std::to_string(number));
        const std::string script = "trap 'exit 9' TERM INT USR1 HUP; : >" + ready + "; while :; do sleep 0.01; done";
        Program program({"record", "-o", trace, "--", "sh", "-c", script});
        while (!exists(ready) && !program.has_ended()) {
            breathe();
        }
        program.signal(number);
        EXPECT_EQ(program.wait().code, 9) << number;
    }
}

TEST_F(RecordProgram, IsNotHandedOnToWhatTheProgramStarts) {
    const Outcome outcome = record({"sh", "-c", "env; true"});
    EXPECT_THAT(outcome.out, HasSubstr("PATH="));
    EXPECT_THAT(outcome.out, Not(HasSubstr("LD_PRELOAD")));
    EXPECT_THAT(outcome.out, Not(HasSubstr("SCHEDSCOPE_ATTACH")));
    // What the user put there stays.
    const Outcome with = record({"sh", "-c", "env; true"}, {.environment = {{"LD_PRELOAD", "libdl.so.2"}}});
    EXPECT_THAT(with.out, HasSubstr("LD_PRELOAD=libdl.so.2\n"));
}

TEST(SharedPages, AreTheUsersAloneAndGoOnIntoNoOtherProgram) {
    const SharedPages pages;
    struct stat found = {};
    ASSERT_EQ(fstat(pages.number(), &found), 0);
    EXPECT_EQ(found.st_mode & ACCESSPERMS, static_cast<mode_t>(S_IRUSR | S_IWUSR));
    EXPECT_EQ(found.st_nlink, 0U); // no folder has it: there is no link to follow, and nothing to remove
    EXPECT_EQ(fcntl(pages.number(), F_GETFD) & FD_CLOEXEC, FD_CLOEXEC);
}

TEST_F(RecordProgram, StaysWhereTheProgramBecomesAnother) {
    const std::string script = folder / "script";
    write_bytes(script, "#!/usr/bin/env sh\nenv sh -c 'exit 3'\nexit $?\n");
    chmod(script.c_str(), 0700);
    const RecordedStream stream = recorded_stream({script});
    EXPECT_EQ(stream.code, 3);
    EXPECT_EQ(stream.control.loaded, 2U); // env and the shell that it becomes, not what the shell starts
    EXPECT_EQ(recorded_stream({script}, {.children = true}).control.loaded, 4U);
    const RecordedStream becoming = recorded_stream({paths::program("becoming")}); // with each function for that
    EXPECT_EQ(becoming.code, 3);
    EXPECT_EQ(becoming.control.loaded, 10U);
}

} // namespace
} // namespace schedscope::test
