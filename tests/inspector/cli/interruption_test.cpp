// Runs that do not come to their end: killed, interrupted, without a reader, without room.
#include "tests/inspector/cli/harness/recorded.h"
#include "tests/inspector/cli/harness/story.h"
#include "tests/inspector/cli/harness/typed_out.h"
#include "tests/support/terminal.h"

#include <gmock/gmock.h>

#include <csignal>
#include <filesystem>

#include <fcntl.h>
#include <unistd.h>

namespace schedscope::test {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr int device_error = 4;

/// A run that goes on for ever: it forgets the beginning when the context is full.
std::vector<std::string> endless(const std::string& trace) {
    return {"record", "-m", model(), "-p", "",         "-n",  "1000000", "--ignore-eos", "--context-shift",
            "--temp", "0",  "-t",    "1",  "--device", "cpu", "-o",      trace};
}

/// The text that a trace says was generated.
std::string text_in(const std::string& trace) {
    const json table = json::parse(run({"show", trace, "--what", "tokens", "--json"}).out);
    std::string text;
    for (const json& token : table["tokens"]) {
        const bool control = token["id"] < 3; // <unk>, <s>, </s>: not part of the text
        text += control ? "" : token["text"].get<std::string>();
    }
    return text.substr(text.starts_with(' ') ? 1 : 0);
}

/// Until the trace of a program that still runs has this text: what is committed then is there whatever happens. (A test's time
/// limit bounds a failure.)
void wait_until_recorded(const std::string& trace, const std::string& text) {
    // As long as nothing is committed, or no plan, there are no tokens to ask for.
    while (run({"show", trace, "--what", "tokens"}).code != 0 || !text_in(trace).starts_with(text)) {}
}

/// Leaves the trace of a recording that was killed when it had told this text, and had committed it.
void kill_after(const std::string& text, const std::string& trace) {
    TypedOut terminal;
    Program program(endless(trace), {.out_descriptor = terminal.end_of_program()});
    ASSERT_TRUE(terminal.read_until(text));
    wait_until_recorded(trace, terminal.text());
    program.signal(SIGKILL);
    program.wait();
}

TEST(Killed, ATraceKeepsWhatWasCommitted) {
    const Folder folder;
    const std::string trace = folder / "t.trace";
    TypedOut terminal;
    Program program(endless(trace), {.out_descriptor = terminal.end_of_program()});
    ASSERT_TRUE(terminal.read_until(known_text(1))); // running
    const std::string before = terminal.text();
    wait_until_recorded(trace, before);
    program.signal(SIGKILL);
    EXPECT_EQ(program.wait().code, 256 + SIGKILL);
    terminal.read_rest();

    const Outcome summary = run({"show", trace, "--json"});
    ASSERT_EQ(summary.code, 0) << summary.err;
    const std::string kept = text_in(trace), shown = terminal.text();
    EXPECT_GE(kept.size(), before.size());
    EXPECT_EQ(kept.substr(0, shown.size()), shown.substr(0, kept.size())); // one is the beginning of the other
    const json read = json::parse(summary.out);
    EXPECT_GE(read["evaluations"], read["tokens"]);
    EXPECT_EQ(read["failed"], 0);
    EXPECT_EQ(run({"replay", trace}).code, 0);
    EXPECT_EQ(run({"dot", trace, "-o", folder / "t.svg"}).code, 0);
}

TEST(Killed, AnEvaluationsRecordsAreAllThereOrNoneOfThem) {
    const Folder folder;
    const std::string trace = folder / "t.trace";
    kill_after(known_text(20), trace);
    int64_t step = 0;
    for (const std::string& line : lines_of(run({"export", trace, "--jsonl", "-"}).out)) {
        const json record = json::parse(line);
        ASSERT_EQ(record["step"], step++);
    }
    EXPECT_GT(step, 0);
}

TEST(Killed, ReadingItChangesNothing) {
    const Folder folder;
    const std::string trace = folder / "t.trace";
    kill_after(known_text(10), trace);
    const auto names = folder.names();
    EXPECT_GT(names.size(), 1U); // its journal lies beside it
    const std::string before = read_bytes(trace), journal = read_bytes(trace + "-wal");
    const Outcome first = run({"show", trace}), second = run({"show", trace});
    EXPECT_EQ(first.code, 0);
    EXPECT_EQ(first.out, second.out);
    EXPECT_EQ(folder.names(), names);
    EXPECT_TRUE(read_bytes(trace) == before);
    EXPECT_TRUE(read_bytes(trace + "-wal") == journal);
}

TEST(Killed, WhatBelongsToTheTraceIsSaidWhenItIsOpened) {
    const Folder folder;
    const std::string trace = folder / "t.trace", copy = folder / "copy.trace";
    kill_after(known_text(10), trace);
    const std::string beside = trace + ": was not closed, its recording was killed: t.trace-wal beside it belongs to it";
    for (const char* command : {"show", "replay", "dot"}) {
        const Outcome outcome = run({command, trace});
        EXPECT_EQ(outcome.code, 0) << command;
        EXPECT_THAT(outcome.err, StartsWith("schedscope: " + beside)) << command;
        EXPECT_EQ(count(outcome.err, "\n"), 1U) << command;
    }
    Terminal terminal(24, 80, [&] { return execl(program_path().c_str(), "schedscope", "inspect", trace.c_str(), nullptr); });
    ASSERT_TRUE(terminal.shows("norm-0")) << terminal.text();
    terminal.press(":messages\n");
    EXPECT_TRUE(terminal.shows("t.trace-wal beside it")) << terminal.text();
    terminal.press("qq");
    EXPECT_EQ(terminal.wait_for_exit(), 0);

    std::filesystem::copy_file(trace, copy);
    EXPECT_THAT(run({"show", copy}).err,
                StartsWith("schedscope: " + copy + ": was not closed, and copy.trace-wal is not beside it"));
    std::filesystem::copy_file(trace + "-wal", copy + "-wal");
    EXPECT_THAT(run({"show", copy}).err, HasSubstr("copy.trace-wal beside it belongs to it"));
}

TEST(Killed, WhileItIsRecordedThatIsSaid) {
    const Folder folder;
    const std::string trace = folder / "t.trace";
    TypedOut terminal;
    Program program(endless(trace), {.out_descriptor = terminal.end_of_program()});
    ASSERT_TRUE(terminal.read_until(known_text(1)));
    wait_until_recorded(trace, terminal.text());
    EXPECT_EQ(run({"show", trace}).err, "schedscope: " + trace + ": is being recorded; what was committed so far is shown\n");
    program.signal(SIGKILL);
    program.wait();
}

TEST(Killed, ATraceCanBeRecordedOver) {
    const Folder folder;
    const std::string trace = folder / "t.trace";
    kill_after(known_text(10), trace);
    ASSERT_EQ(run({"record", "-m", model(), "-p", "", "-n", "20", "--temp", "0", "--device", "cpu", "-o", trace}).code, 0);
    EXPECT_EQ(folder.names(), std::vector<std::string>{"t.trace"});
    EXPECT_EQ(text_in(trace), known_text(20));
}

TEST(Interrupted, ATraceIsClosedProperly) {
    const Folder folder;
    const std::string trace = folder / "t.trace";
    TypedOut terminal;
    Program program(endless(trace), {.out_descriptor = terminal.end_of_program()});
    ASSERT_TRUE(terminal.read_until(known_text(4)));
    program.signal(SIGINT);
    const Outcome outcome = terminal.wait_for(program);
    EXPECT_EQ(outcome.code, 130);
    EXPECT_THAT(outcome.err, StartsWith("wrote " + trace + ": "));
    EXPECT_EQ(folder.names(), std::vector<std::string>{"t.trace"}); // no journal
    const Outcome summary = run({"show", trace, "--json"});
    EXPECT_EQ(summary.code, 0);
    EXPECT_EQ(summary.err, "");
    EXPECT_EQ(text_in(trace) + "\n", terminal.text());
}

TEST(Interrupted, TwiceItEndsAtOnceAndSaysWhatBelongsToTheTrace) {
    const Folder folder;
    const std::string trace = folder / "t.trace";
    TypedOut terminal;
    Program program(endless(trace), {.out_descriptor = terminal.end_of_program()});
    ASSERT_TRUE(terminal.read_until(known_text(1)));
    program.signal(SIGSTOP); // so that both come before it goes on
    program.signal(SIGINT);
    program.signal(SIGTERM);
    program.signal(SIGCONT);
    const Outcome outcome = terminal.wait_for(program);
    EXPECT_GT(outcome.code, 256);
    EXPECT_EQ(outcome.err, "schedscope: " + trace + ": was not closed; " + trace + "-wal beside it belongs to it\n");
    EXPECT_EQ(run({"show", trace}).code, 0);
}

TEST(Interrupted, ARunPrintsWhatItHas) {
    TypedOut terminal;
    Program program(
        {"run", "-m", model(), "-p", "", "-n", "1000000", "--ignore-eos", "--context-shift", "--temp", "0", "--device", "cpu"},
        {.out_descriptor = terminal.end_of_program()});
    ASSERT_TRUE(terminal.read_until(known_text(4)));
    program.signal(SIGINT);
    EXPECT_EQ(terminal.wait_for(program).code, 130);
    EXPECT_THAT(terminal.text(), StartsWith(known_text(4)));
    EXPECT_THAT(terminal.text(), ::testing::EndsWith("\n"));
}

/// Where a signal comes while a terminal takes nothing more.
TEST(Interrupted, ARunLosesNothingOfWhatItCouldNotPrintYet) {
    TypedOut terminal;
    Program program(
        {"run", "-m", model(), "-p", "", "-n", "1000000", "--ignore-eos", "--context-shift", "--temp", "0", "--device", "cpu"},
        {.out_descriptor = terminal.end_of_program()});
    while (!program.waits_to_write()) {
        ASSERT_FALSE(program.has_ended());
        breathe();
    }
    program.signal(SIGINT);
    EXPECT_EQ(terminal.wait_for(program).code, 130);
    EXPECT_THAT(terminal.text(), StartsWith(known_text(20)));
    EXPECT_THAT(terminal.text(), ::testing::EndsWith("\n"));
}

/// The write end of a pipe that has no reader any more.
class ClosedPipe {
public:
    ClosedPipe() {
        if (pipe2(ends_, O_CLOEXEC) == 0) {
            close(ends_[0]);
        }
    }
    ~ClosedPipe() { close(ends_[1]); }
    ClosedPipe(const ClosedPipe&) = delete;
    ClosedPipe& operator=(const ClosedPipe&) = delete;
    int write_end() const noexcept { return ends_[1]; }

private:
    int ends_[2] = {-1, -1};
};

TEST(NoReader, ARunSaysSo) {
    const ClosedPipe pipe;
    const Outcome outcome =
        run({"run", "-m", model(), "-p", "", "-n", "20", "--device", "cpu"}, {.out_descriptor = pipe.write_end()});
    EXPECT_EQ(outcome.code, device_error);
    EXPECT_EQ(outcome.err, "schedscope: standard output: write failed\n");
}

TEST(NoReader, ARecordingIsClosedProperly) {
    const Folder folder;
    for (const bool full : {false, true}) {
        const ClosedPipe pipe;
        const Start start = full ? Start{.out_to = "/dev/full"} : Start{.out_descriptor = pipe.write_end()};
        const Outcome outcome = run(
            {"record", "-m", model(), "-p", "", "-n", "20", "--temp", "0", "--device", "cpu", "-o", folder / "t.trace"}, start);
        EXPECT_EQ(outcome.code, device_error);
        EXPECT_THAT(outcome.err, StartsWith("wrote " + (folder / "t.trace") + ": 20 evaluations; "));
        EXPECT_THAT(outcome.err, ::testing::EndsWith("\nschedscope: standard output: write failed\n"));
        EXPECT_EQ(folder.names(), std::vector<std::string>{"t.trace"});
        EXPECT_EQ(text_in(folder / "t.trace"), known_text(20));
    }
}

TEST(NoReader, AReadingCommandEndsSilentlyLikeAnyOther) {
    const Recorded recorded({"--device", "cpu"});
    for (const std::vector<std::string>& arguments : {std::vector<std::string>{"show", recorded.path(), "--what", "kernels"},
                                                      {"export", recorded.path(), "--jsonl", "-"},
                                                      {"gguf", model()},
                                                      {"dot", recorded.path()}}) {
        const ClosedPipe pipe;
        const Outcome outcome = run(arguments, {.out_descriptor = pipe.write_end()});
        EXPECT_EQ(outcome.code, 256 + SIGPIPE) << arguments[0];
        EXPECT_EQ(outcome.err, "") << arguments[0];
    }
}

/// `record` of the known story where files may have so many bytes.
Outcome record_within(long long bytes, const std::string& trace) {
    return run({"record", "-m", model(), "-p", "", "-n", "200", "--temp", "0", "--device", "cpu", "-o", trace},
               {.largest_file = bytes});
}

TEST(NoRoomForTheTrace, TheTextIsCompleteAndThenItIsSaid) {
    for (const long long bytes : {400000LL, 600000LL}) {
        const Folder folder;
        const Outcome outcome = record_within(bytes, folder / "t.trace");
        SCOPED_TRACE(std::to_string(bytes) + " bytes");
        EXPECT_EQ(outcome.code, device_error);
        EXPECT_EQ(outcome.out, known_text() + "\n");
        EXPECT_EQ(count(outcome.err, "\n"), 1U) << outcome.err;
        EXPECT_THAT(outcome.err, StartsWith("schedscope: "));
        EXPECT_THAT(outcome.err, HasSubstr("t.trace"));
    }
}

TEST(NoRoomForTheTrace, WhatWasWrittenBeforeCanBeRead) {
    // The graph alone does not fit into the first.
    for (const auto& [bytes, most_tokens] : {std::pair{300000LL, 0}, std::pair{600000LL, 199}}) {
        SCOPED_TRACE(std::to_string(bytes) + " bytes");
        const Folder folder;
        ASSERT_EQ(record_within(bytes, folder / "t.trace").code, device_error);
        const Outcome shown = run({"show", folder / "t.trace", "--json"});
        ASSERT_EQ(shown.code, 0) << shown.err;
        const json summary = json::parse(shown.out);
        // How much was committed depends on how often the writer had its turn: on a busy machine perhaps once, with all that
        // does not fit. Writer.WhenFilesMayNotGrow… says that what was committed is whole.
        EXPECT_LE(summary["tokens"], most_tokens);
        if (summary["tokens"] > 0) {
            EXPECT_THAT(model(), ::testing::EndsWith("/" + summary["facts"]["model"].get<std::string>()));
            EXPECT_THAT(known_text(), StartsWith(text_in(folder / "t.trace")));
        }
    }
}

TEST(NoRoomForTheTrace, ARecordingThatCanNotBeginIsRefused) {
    for (const long long bytes : {0LL, 4096LL}) {
        const Folder folder;
        const Outcome outcome = record_within(bytes, folder / "t.trace");
        EXPECT_EQ(outcome.code, device_error);
        EXPECT_EQ(outcome.out, "");
        EXPECT_EQ(count(outcome.err, "\n"), 1U) << outcome.err;
        EXPECT_THAT(outcome.err, HasSubstr("t.trace"));
    }
}

} // namespace
} // namespace schedscope::test
