// What an export is written to: whole or not at all, whatever it is that was named.
#include "tests/inspector/cli/harness/files.h"
#include "tests/inspector/cli/harness/program.h"
#include "tests/support/paths.h"

#include <gmock/gmock.h>

#include <csignal>
#include <filesystem>
#include <thread>

#include <sys/stat.h>

namespace schedscope::test {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using ::testing::StartsWith;

using paths::sample;

constexpr const char* earlier = "{\"step\":0}\n"; ///< an export of records

/// The records of a sample.
const std::string& records() {
    static const std::string text = run({"export", sample("all-cpu"), "--jsonl", "-"}).out;
    return text;
}

Outcome write_to(const std::string& path, const Start& start = {}) {
    return run({"export", sample("all-cpu"), "--jsonl", path}, start);
}

TEST(OutputFile, IsLeftAsItWasWhenTheNewOneCanNotBeWritten) {
    const Folder folder;
    for (const bool there : {true, false}) {
        if (there) {
            write_bytes(folder / "out", earlier);
        } else {
            fs::remove(folder / "out");
        }
        const auto names = folder.names();
        const Outcome outcome = write_to(folder / "out", {.largest_file = 100'000});
        EXPECT_EQ(outcome.code, 4);
        EXPECT_EQ(outcome.err, "schedscope: " + folder / "out" + ": File too large\n");
        EXPECT_EQ(folder.names(), names);
        EXPECT_TRUE(!there || read_bytes(folder / "out") == earlier);
    }
}

TEST(OutputFile, IsLeftAsItWasWhenTheTraceIsDamaged) {
    const Folder folder;
    std::string bytes = read_bytes(sample("all-cpu"));
    std::fill(bytes.begin() + static_cast<std::ptrdiff_t>(bytes.size() / 2), bytes.end() - 5000, '\x7f');
    write_bytes(folder / "t.trace", bytes);
    write_bytes(folder / "out", earlier);
    for (const char* format : {"--jsonl", "--perfetto", "--html"}) {
        const Outcome outcome = run({"export", folder / "t.trace", format, folder / "out", "--force"});
        EXPECT_EQ(outcome.code, 3) << format << ' ' << outcome.err;
        EXPECT_EQ(read_bytes(folder / "out"), earlier);
        EXPECT_EQ(folder.names(), (std::vector<std::string>{"out", "t.trace"}));
    }
}

TEST(OutputFile, IsLeftAsItWasByCtrlC) {
    const Folder from, folder;
    ASSERT_EQ(run({"record", "-m", model(), "-p", "", "-n", "2000", "--ignore-eos", "--context-shift", "--temp", "0", "--device",
                   "cpu", "-o", from / "t.trace"})
                  .code,
              0);
    for (const char* format : {"--jsonl", "--perfetto"}) {
        write_bytes(folder / "out", earlier);
        Program program({"export", from / "t.trace", format, folder / "out", "--force"});
        while (!program.has_open_in(folder.path()) && !program.has_ended()) { // until it writes the new one
            std::this_thread::yield();
        }
        program.signal(SIGINT);
        EXPECT_EQ(program.wait().code, 130) << format;
        EXPECT_EQ(folder.names(), std::vector<std::string>{"out"});
        EXPECT_EQ(read_bytes(folder / "out"), earlier);
    }
}

TEST(OutputFile, KeepsItsPermissionsAndTheLinkToIt) {
    const Folder folder;
    fs::create_directory(folder / "inner");
    write_bytes(folder / "inner/out", earlier);
    ASSERT_EQ(chmod((folder / "inner/out").c_str(), 0640), 0);
    fs::create_symlink("inner/out", folder / "link");
    fs::create_symlink("inner/new", folder / "link-to-nothing");
    for (const char* name : {"link", "link-to-nothing"}) {
        EXPECT_EQ(write_to(folder / name).code, 0);
        EXPECT_TRUE(fs::is_symlink(folder / name));
        EXPECT_TRUE(read_bytes(folder / name) == records());
    }
    struct stat status {};
    ASSERT_EQ(stat((folder / "inner/out").c_str(), &status), 0);
    EXPECT_EQ(status.st_mode & 0777U, 0640U);
    write_bytes(folder / "one", earlier);
    fs::create_hard_link(folder / "one", folder / "two");
    EXPECT_EQ(write_to(folder / "one").code, 0);
    EXPECT_TRUE(read_bytes(folder / "two") == records()) << "both names are of one file";
}

TEST(OutputFile, IsWrittenInPlaceWhereItsFolderTakesNoOther) {
    const Folder folder;
    fs::create_directory(folder / "inner");
    write_bytes(folder / "inner/out", earlier);
    write_bytes(folder / "inner/protected", earlier);
    fs::permissions(folder / "inner/protected", fs::perms::owner_read);
    fs::permissions(folder / "inner", fs::perms::owner_read | fs::perms::owner_exec);
    EXPECT_EQ(write_to(folder / "inner/out", {.obeys_permissions = true}).code, 0);
    EXPECT_TRUE(read_bytes(folder / "inner/out") == records());
    const Outcome again = write_to(folder / "inner/new", {.obeys_permissions = true});
    EXPECT_EQ(again.code, 4);
    EXPECT_THAT(again.err, HasSubstr("inner/new: Permission denied\n"));
    fs::permissions(folder / "inner", fs::perms::owner_all);
    EXPECT_EQ(write_to(folder / "inner/protected", {.obeys_permissions = true}).code, 4) << "though its folder takes another";
    EXPECT_EQ(read_bytes(folder / "inner/protected"), earlier);
}

TEST(OutputFile, MayBeStandardOutputByName) {
    EXPECT_TRUE(write_to("/dev/stdout").out == records()) << "a pipe";
    const Folder folder;
    write_bytes(folder / "out", earlier);
    struct stat before {
    }, after{};
    ASSERT_EQ(stat((folder / "out").c_str(), &before), 0);
    for (const std::string& name : {std::string("/dev/stdout"), folder / "out"}) {
        EXPECT_EQ(write_to(name, {.out_to = folder / "out"}).code, 0);
        EXPECT_TRUE(read_bytes(folder / "out") == records());
        ASSERT_EQ(stat((folder / "out").c_str(), &after), 0);
        EXPECT_EQ(after.st_ino, before.st_ino) << "who opened it goes on writing to it";
    }
    EXPECT_EQ(write_to("/dev/full").code, 4);
    EXPECT_EQ(write_to(folder.path()).code, 4);
}

TEST(SeveralExports, AreRefusedTogetherBeforeAnyIsMade) {
    const Folder folder;
    write_bytes(folder / "notes", "mine\n");
    for (const auto& [first, second] : {std::pair{"--html", "--perfetto"}, {"--html", "--jsonl"}, {"--perfetto", "--jsonl"}}) {
        const Outcome outcome = run({"export", sample("all-cpu"), first, folder / "new", second, folder / "notes"});
        EXPECT_EQ(outcome.code, 2);
        EXPECT_THAT(outcome.err, StartsWith("schedscope: " + folder / "notes" + ": is not "));
        EXPECT_EQ(folder.names(), std::vector<std::string>{"notes"});
    }
    const Outcome both = run({"export", sample("all-cpu"), "--perfetto", folder / "a", "--jsonl", folder / "b"});
    EXPECT_EQ(both.code, 0);
    EXPECT_EQ(folder.names(), (std::vector<std::string>{"a", "b", "notes"}));
}

} // namespace
} // namespace schedscope::test
