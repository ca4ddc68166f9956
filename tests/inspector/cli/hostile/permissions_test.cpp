// Files and folders that the program may not write, or that go away under it.
#include "tests/inspector/cli/harness/recorded.h"
#include "tests/inspector/cli/harness/story.h"
#include "tests/inspector/cli/harness/typed_out.h"
#include "tests/support/terminal.h"

#include <gmock/gmock.h>

#include <csignal>
#include <filesystem>

#include <unistd.h>

namespace schedscope::test {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

constexpr int input = 3, device = 4;
constexpr fs::perms read_only = fs::perms::owner_read, browse_only = fs::perms::owner_read | fs::perms::owner_exec;

constexpr size_t n_tokens = 5000;

/// More text than a terminal takes that is not read: the program waits in the middle of it.
std::vector<std::string> long_story(const std::vector<std::string>& how) {
    std::vector<std::string> all = how;
    all.insert(all.end(), {"-m", model(), "-p", "", "-n", std::to_string(n_tokens), "--ignore-eos", "--context-shift", "--temp",
                           "0", "-t", "1", "--device", "cpu"});
    return all;
}

TEST(ARemovedTrace, IsSaidWhenTheTextIsComplete) {
    const Folder folder;
    const std::string trace = folder / "t.trace";
    TypedOut terminal;
    Program program(long_story({"record", "-o", trace}), {.out_descriptor = terminal.end_of_program()});
    ASSERT_TRUE(terminal.read_until(known_text(4))); // and no more is read until the file is gone
    ASSERT_TRUE(fs::remove(trace));
    const Outcome outcome = terminal.wait_for(program);
    EXPECT_EQ(outcome.code, device);
    EXPECT_EQ(outcome.err, "schedscope: " + trace + ": recording stopped: the file was removed or replaced\n");
    EXPECT_TRUE(terminal.text() == known_text(n_tokens) + "\n");
    EXPECT_THAT(folder.names(), IsEmpty());
}

TEST(AReplacedTrace, LeavesWhatReplacedItAlone) {
    const Folder folder;
    const std::string trace = folder / "t.trace";
    TypedOut terminal;
    Program program(long_story({"record", "-o", trace}), {.out_descriptor = terminal.end_of_program()});
    ASSERT_TRUE(terminal.read_until(known_text(4)));
    write_bytes(folder / "thesis", "years of work");
    fs::rename(folder / "thesis", trace);
    const Outcome outcome = terminal.wait_for(program);
    EXPECT_EQ(outcome.code, device);
    EXPECT_EQ(outcome.err, "schedscope: " + trace + ": recording stopped: the file was removed or replaced\n");
    EXPECT_EQ(read_bytes(trace), "years of work");
    EXPECT_EQ(folder.names(), std::vector<std::string>{"t.trace"});
}

TEST(ARemovedFolder, IsSaidWhenTheTextIsComplete) {
    const Folder folder;
    fs::create_directory(folder / "inner");
    TypedOut terminal;
    Program program(long_story({"record", "-o", folder / "inner/t.trace"}), {.out_descriptor = terminal.end_of_program()});
    ASSERT_TRUE(terminal.read_until(known_text(4)));
    fs::remove_all(folder / "inner");
    const Outcome outcome = terminal.wait_for(program);
    EXPECT_EQ(outcome.code, device);
    EXPECT_EQ(count(outcome.err, "\n"), 1U) << outcome.err;
    EXPECT_THAT(outcome.err, HasSubstr("t.trace: recording stopped: "));
    EXPECT_TRUE(terminal.text() == known_text(n_tokens) + "\n");
}

TEST(AReadOnlyFolder, IsSaidBeforeAnythingIsGenerated) {
    const Folder folder;
    fs::permissions(folder.path(), browse_only);
    const Outcome outcome =
        run({"record", "-m", model(), "-p", "", "-n", "20", "-o", folder / "t.trace"}, {.obeys_permissions = true});
    EXPECT_EQ(outcome.code, device);
    EXPECT_EQ(outcome.out, "");
    EXPECT_EQ(count(outcome.err, "\n"), 1U) << outcome.err;
    EXPECT_EQ(outcome.err, "schedscope: " + folder / "t.trace" + ": can't be written: Permission denied\n");
    EXPECT_THAT(folder.names(), IsEmpty());
}

TEST(AFolderThatIsNotThere, IsSaidBeforeAnythingIsGenerated) {
    const Folder folder;
    const Outcome outcome = run({"record", "-m", model(), "-p", "", "-n", "20", "-o", folder / "nowhere/t.trace"});
    EXPECT_EQ(outcome.code, device);
    EXPECT_EQ(outcome.out, "");
    EXPECT_EQ(outcome.err, "schedscope: " + folder / "nowhere/t.trace" + ": can't be written: No such file or directory\n");
}

TEST(AReadOnlyTrace, IsNotRecordedOver) {
    const Recorded recorded({"--device", "cpu"});
    const std::string before = read_bytes(recorded.path());
    fs::permissions(recorded.folder().path(), browse_only);
    const Outcome outcome =
        run({"record", "-m", model(), "-p", "", "-n", "20", "-o", recorded.path()}, {.obeys_permissions = true});
    EXPECT_EQ(outcome.code, device);
    EXPECT_EQ(count(outcome.err, "\n"), 1U) << outcome.err;
    EXPECT_TRUE(read_bytes(recorded.path()) == before);
}

TEST(AReadOnlyTrace, IsReadByEveryCommand) {
    const Recorded recorded({"--device", "cpu"});
    const auto names = recorded.folder().names();
    fs::permissions(recorded.path(), read_only);
    fs::permissions(recorded.folder().path(), browse_only);
    const Start plainly{.obeys_permissions = true};
    for (const std::vector<std::string>& command : {std::vector<std::string>{"show"},
                                                    {"show", "--what", "kernels"},
                                                    {"explain", "attn_norm-0", "--eval", "0"},
                                                    {"replay"},
                                                    {"replay", "--set", "ngl=2"},
                                                    {"dot"},
                                                    {"export", "--jsonl", "-"}}) {
        const Outcome outcome = recorded.read(command[0], {command.begin() + 1, command.end()}, plainly);
        EXPECT_EQ(outcome.code, 0) << command[0] << ": " << outcome.err;
        EXPECT_EQ(outcome.err, "") << command[0];
    }
    Terminal terminal(24, 80, [&] {
        obey_permissions();
        return execl(program_path().c_str(), "schedscope", "inspect", recorded.path().c_str(), nullptr);
    });
    EXPECT_TRUE(terminal.shows("norm-0")) << terminal.text();
    terminal.press("q");
    EXPECT_EQ(terminal.wait_for_exit(), 0);
    EXPECT_EQ(recorded.folder().names(), names);
}

TEST(AReadOnlyTrace, IsReadWithTheJournalOfAKilledRun) {
    const Folder folder;
    const std::string trace = folder / "t.trace";
    TypedOut terminal;
    Program program(long_story({"record", "-o", trace}), {.out_descriptor = terminal.end_of_program()});
    ASSERT_TRUE(terminal.read_until(known_text(4)));
    while (run({"show", trace}).out.find("teller") == std::string::npos) { // until something is committed
        terminal.read_rest();                                              // the story goes on
    }
    program.signal(SIGKILL);
    program.wait();
    fs::permissions(trace, read_only);
    fs::permissions(trace + "-wal", read_only);
    fs::permissions(folder.path(), browse_only);
    const Outcome shown = run({"show", trace}, {.obeys_permissions = true});
    EXPECT_EQ(shown.code, 0) << shown.err;
    EXPECT_THAT(shown.err, HasSubstr("was not closed"));
    EXPECT_THAT(shown.out, HasSubstr("teller"));
}

TEST(AnUnreadableTrace, IsSaid) {
    const Recorded recorded({"--device", "cpu"});
    fs::permissions(recorded.path(), fs::perms::none);
    for (const char* command : {"show", "replay", "dot", "inspect"}) {
        const Outcome outcome = recorded.read(command, {}, {.obeys_permissions = true});
        EXPECT_EQ(outcome.code, input) << command;
        EXPECT_EQ(outcome.err, "schedscope: " + recorded.path() + ": Permission denied\n") << command;
    }
}

} // namespace
} // namespace schedscope::test
