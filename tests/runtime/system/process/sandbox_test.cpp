// What a child can't do any more once it is in a sandbox.
#include "tests/runtime/system/process/children.h"

#include "runtime/system/process/child_process.h"
#include "runtime/system/process/program_role.h"

#include <gmock/gmock.h>

#include <csignal>
#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace schedscope::test {
namespace {

using ::testing::AnyOf;

constexpr int64_t wait_ms = 300;

struct Attempted {
    ChildEnd end;
    int64_t written = 0;
};

Attempted attempt(const std::string& kind, const std::string& needs, const std::string& what, int64_t seconds = wait_ms) {
    MemoryFile in("in"), out("out");
    EXPECT_TRUE(in && out && in.finish());
    std::vector<std::string> command = own_command("--attempt");
    command.insert(command.end(), {kind, needs, what});
    const ChildEnd end = run_child({command, seconds, {}}, in, out);
    return {end, out.size()};
}

/// The words of the error, "" where it went through; nothing of it where the kernel does not offer what stops it.
#define EXPECT_ATTEMPT(kind, needs, what, matcher)                                                                               \
    do {                                                                                                                         \
        const ChildEnd end = attempt(kind, needs, what).end;                                                                     \
        ASSERT_EQ(end.how, ChildEnd::How::exited) << (what) << ": " << end.signal_name();                                        \
        if (end.code == not_in_force) {                                                                                          \
            GTEST_SKIP() << "this kernel does not offer it: " << (kind);                                                         \
        }                                                                                                                        \
        EXPECT_EQ(end.code == went_through, end.said.empty()) << (what);                                                         \
        EXPECT_THAT(end.said, matcher) << (what);                                                                                \
    } while (false)

constexpr const char *not_permitted = "Operation not permitted", *denied = "Permission denied",
                     *no_call = "Function not implemented", *through = "";

TEST(Sandbox, OfMemoryAloneLetsNothingElseBeDone) {
    for (const char* what : {"open a file", "open a file for writing", "open a file for both", "empty a file", "make a file",
                             "make a folder", "remove a file", "make a memory file", "make a socket", "make a pair of sockets",
                             "start another program", "fork", "start a thread", "trace its parent", "send its parent a signal",
                             "send a thread of its parent a signal", "take more", "make code", "make code of data"}) {
        EXPECT_ATTEMPT("seccomp", "memory", what, AnyOf(not_permitted, no_call));
        EXPECT_ATTEMPT("sandbox", "memory", what, AnyOf(not_permitted, no_call));
    }
}

TEST(Sandbox, WithFilesLetsThemBeReadAndNothingWritten) {
    for (const char* what : {"open a file", "start a thread", "make code"}) {
        EXPECT_ATTEMPT("sandbox", "files", what, through);
    }
    for (const char* what : {"open a file for writing", "open a file for both", "empty a file", "make a file", "make a folder",
                             "remove a file", "make a memory file", "make a socket", "make a pair of sockets",
                             "start another program", "fork", "trace its parent", "send its parent a signal", "take more"}) {
        EXPECT_ATTEMPT("seccomp", "files", what, AnyOf(not_permitted, no_call));
        EXPECT_ATTEMPT("sandbox", "files", what, AnyOf(not_permitted, no_call));
    }
}

TEST(Sandbox, OfFilesAloneIsClosedAsWell) {
    for (const char* what :
         {"open a file for writing", "open a file for both", "make a file", "make a folder", "start another program"}) {
        EXPECT_ATTEMPT("Landlock", "memory", what, denied);
        EXPECT_ATTEMPT("Landlock", "files", what, denied);
    }
    EXPECT_ATTEMPT("Landlock", "memory", "open a file", denied);
    EXPECT_ATTEMPT("Landlock", "files", "open a file", through);
}

TEST(Sandbox, WithoutFiltersGoesOn) {
    for (const char* kind : {"no filters", "old kernel"}) {
        EXPECT_ATTEMPT(kind, "files", "open a file", through);
        EXPECT_ATTEMPT(kind, "files", "make a pair of sockets", through);
        EXPECT_ATTEMPT(kind, "memory", "fork", through);
    }
}

TEST(Sandbox, ClosesWhatItInherited) {
    const int left_open = dup2(STDERR_FILENO, 7);
    ASSERT_EQ(left_open, 7);
    EXPECT_ATTEMPT("no filters", "memory", "find a descriptor", "Bad file descriptor");
    close(left_open);
}

TEST(Sandbox, EndsWhatMakesCallsOfAnotherArchitecture) {
    const ChildEnd end = attempt("sandbox", "memory", "make a call of another architecture").end;
    EXPECT_EQ(end.how, ChildEnd::How::killed);
    EXPECT_THAT(end.code, AnyOf(SIGSYS, SIGSEGV)); // where the kernel knows only one there is nothing to filter
}

TEST(Sandbox, LetsAChildAbort) {
    const ChildEnd end = attempt("sandbox", "memory", "abort").end;
    EXPECT_EQ(end.how, ChildEnd::How::killed);
    EXPECT_EQ(end.code, SIGABRT);
}

TEST(Sandbox, BoundsMemory) {
    const ChildEnd end = attempt("memory", "memory", "allocate without end").end;
    if (end.code == not_in_force) {
        GTEST_SKIP() << "addresses are not limited under this sanitizer";
    }
    EXPECT_EQ(end.how, ChildEnd::How::exited);
    EXPECT_EQ(end.said, "Cannot allocate memory");
}

TEST(Sandbox, BoundsProcessorTime) {
    const ChildEnd end = attempt("sandbox", "memory", "spin").end;
    EXPECT_EQ(end.how, ChildEnd::How::killed);
    EXPECT_EQ(end.code, SIGXCPU);
}

TEST(Sandbox, BoundsWhatIsWritten) {
    const Attempted attempted = attempt("sandbox", "memory", "write without end");
    EXPECT_EQ(attempted.end.how, ChildEnd::How::killed);
    EXPECT_EQ(attempted.end.code, SIGXFSZ);
    EXPECT_EQ(attempted.written, child_limits.written_bytes);
}

TEST(Sandbox, DoesNotOutliveItsParent) {
    prctl(PR_SET_CHILD_SUBREAPER, 1); // orphans become ours
    MemoryFile in("in"), out("out");
    ASSERT_TRUE(in.finish());
    EXPECT_EQ(run_child({own_command("--leave-an-orphan"), wait_ms, {}}, in, out).code, 0);
    pid_t orphan = -1;
    ASSERT_TRUE(out.read(0, std::as_writable_bytes(std::span(&orphan, 1))));
    int status = 0;
    EXPECT_EQ(waitpid(orphan, &status, 0), orphan);
    EXPECT_TRUE(WIFSIGNALED(status));
    EXPECT_EQ(WTERMSIG(status), SIGKILL);
    prctl(PR_SET_CHILD_SUBREAPER, 0);
}

TEST(Sandbox, IsNotEnteredWhenTheParentHasGone) {
    MemoryFile in("in"), out("out");
    ASSERT_TRUE(in.finish());
    const ChildEnd end = run_child({own_command("--come-too-late"), wait_ms, {}}, in, out);
    EXPECT_EQ(end.how, ChildEnd::How::exited);
    EXPECT_EQ(end.code, 1);
}

} // namespace
} // namespace schedscope::test
