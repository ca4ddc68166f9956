// A program in C that knows nothing of this one but a header writes a stream; every command reads the trace that is made of it.
#include "tests/inspector/cli/harness/files.h"
#include "tests/inspector/cli/harness/offers.h"
#include "tests/inspector/cli/harness/program.h"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdlib>
#include <fcntl.h>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>

namespace schedscope::test {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

/// What tests/traces/stream/example.c writes.
std::string example() {
    const Folder folder;
    const std::string path = folder / "run.stream";
    EXPECT_EQ(std::system((paths::program("stream_example") + " " + path).c_str()), 0);
    return read_bytes(path);
}

class StreamTrace : public ::testing::Test {
protected:
    void SetUp() override {
        write_bytes(stream, example());
        const Outcome outcome = run({"import", stream, "-o", trace});
        ASSERT_EQ(outcome.code, 0) << outcome.err;
        EXPECT_THAT(outcome.err, IsEmpty());
        EXPECT_EQ(outcome.out, trace + ": 1 graph, 3 splits, 3 nodes\n");
    }
    json show(const std::string& what) const { return json::parse(run({"show", trace, "--what", what, "--json"}).out)[what]; }

    const Folder folder;
    const std::string stream = folder / "run.stream", trace = folder / "run.trace";
};

TEST_F(StreamTrace, IsReadByEveryCommand) {
    for (const std::string& what : topics()) {
        SCOPED_TRACE(what);
        const Outcome text = run({"show", trace, "--what", what}), object = run({"show", trace, "--what", what, "--json"});
        EXPECT_EQ(text.code, 0) << text.err;
        EXPECT_THAT(text.out, Not(IsEmpty()));
        EXPECT_TRUE(json::accept(object.out));
    }
    for (const std::vector<std::string>& command : {std::vector<std::string>{"show", trace},
                                                    {"dot", trace, "--view", "splits"},
                                                    {"dot", trace, "--view", "nodes"},
                                                    {"dot", trace, "--view", "layers"},
                                                    {"explain", trace, "gate"},
                                                    {"replay", trace},
                                                    {"diff", trace, trace},
                                                    {"export", trace, "--jsonl", "-"},
                                                    {"export", trace, "--html", folder / "r.html"},
                                                    {"export", trace, "--perfetto", folder / "r.pftrace"}}) {
        const Outcome outcome = run(command);
        EXPECT_EQ(outcome.code, 0) << command[0] << ": " << outcome.err << outcome.out;
    }
}

TEST_F(StreamTrace, AnOperatorOfItsOwnIsShownByItsName) {
    for (const std::vector<std::string>& command : {std::vector<std::string>{"show", trace},
                                                    {"show", trace, "--what", "assignments"},
                                                    {"explain", trace, "gate"},
                                                    {"dot", trace, "--view", "nodes"}}) {
        EXPECT_THAT(run(command).out, HasSubstr("SPLINE_GATE")) << command[0];
    }
    const json assignments = show("assignments");
    const auto of = [&](const char* name) {
        const auto named = [&](const json& row) { return row["name"] == name; };
        const auto found = std::find_if(assignments.begin(), assignments.end(), named);
        return found == assignments.end() ? json() : *found;
    };
    EXPECT_EQ(of("gate")["op"], "SPLINE_GATE");
    EXPECT_EQ(of("gate")["ne"], json({32, 4, 1, 1}));
    EXPECT_EQ(of("w0")["type"], "q5_toast");
    EXPECT_EQ(of("w0")["bytes"], json(nullptr)); // what a q5_toast takes was not said
    EXPECT_EQ(of("w1")["bytes"], 2048);
    EXPECT_THAT(run({"dot", trace, "--view", "layers"}).out, HasSubstr("1 weight, ?"));
}

TEST_F(StreamTrace, ItsStoryNamesWhoRefusedAndWhy) {
    const Outcome story = run({"explain", trace, "gate"});
    EXPECT_THAT(story.out, HasSubstr("CPU by 3.best"));
    EXPECT_THAT(story.out, HasSubstr("no spline unit"));
    const json splits = show("splits");
    ASSERT_EQ(splits.size(), 3U);
    EXPECT_EQ(splits[1]["backend"], "CPU");
    EXPECT_EQ(splits[1]["inputs"][0]["tensor"], "h");
    EXPECT_EQ(splits[1]["inputs"][0]["bytes"], 512);
    const json kernels = show("kernels");
    ASSERT_EQ(kernels.size(), 3U);
    EXPECT_EQ(kernels[2]["end_ns"], 8000);
}

/// The example says in whose memory its tensors belong, but neither where they lie there nor what was copied.
TEST_F(StreamTrace, WhatItsProgramDoesNotSayIsNotZero) {
    EXPECT_THAT(run({"show", trace}).out, HasSubstr("3 copies (2.0 KiB to move)\n"));
    EXPECT_THAT(run({"show", trace, "--all"}).out, HasSubstr("3 copies (2.0 KiB to move), compute buffers ?\n"));
    const json summary = json::parse(run({"show", trace, "--json"}).out);
    EXPECT_EQ(summary["moved_bytes"], json(nullptr));
    EXPECT_EQ(summary["compute_bytes"], json(nullptr));
    EXPECT_EQ(run({"show", trace, "--what", "memory"}).out,
              "what memory was planned is unknown: this trace has no records of memory\n\n"
              "own memory in  holds         size\n"
              "NPU            weights  ≥ 2.0 KiB\n");
    const Outcome picture = run({"dot", trace, "--view", "memory"});
    EXPECT_EQ(picture.code, 2);
    EXPECT_THAT(picture.err, HasSubstr("this trace has no records of memory"));
}

TEST_F(StreamTrace, IsPlannedAgainAsItWas) {
    const Outcome replay = run({"replay", trace, "--json"});
    EXPECT_EQ(replay.code, 0) << replay.out << replay.err;
    const json result = json::parse(replay.out);
    EXPECT_EQ(result["compared"], result["identical"]) << replay.out;
    EXPECT_GT(result["compared"], 15);
    // And what would change if the NPU could do nothing.
    EXPECT_THAT(run({"replay", trace, "--set", "refuse=NPU:MUL_MAT"}).out, HasSubstr("y"));
}

TEST(Stream, IsReadFromAPipe) {
    const Folder folder;
    const std::string bytes = example(), trace = folder / "t.trace";
    const Outcome piped = run({"import", "-", "-o", trace}, {.in = bytes});
    EXPECT_EQ(piped.code, 0) << piped.err;
    EXPECT_EQ(piped.out, trace + ": 1 graph, 3 splits, 3 nodes\n");
}

TEST(Stream, OfAProgramThatWasKilledIsStoredAsFarAsItIsComplete) {
    const Folder folder;
    const std::string bytes = example(), trace = folder / "t.trace";
    const Outcome cut = run({"import", "-", "-o", trace}, {.in = bytes.substr(0, bytes.size() - 100)});
    EXPECT_EQ(cut.code, 0);
    EXPECT_EQ(cut.err,
              "schedscope: standard input: the stream ends within a block: the program was killed; what was complete is here\n"
              "schedscope: standard input: 1 evaluation without an end\n");
    EXPECT_EQ(run({"show", trace, "--what", "splits"}).code, 0);
}

TEST(Stream, ThatIsDamagedIsRefusedInOneLineAndKeptAsFarAsItWasSound) {
    const Folder folder;
    std::string bytes = example();
    bytes[bytes.size() - 100] = '\x7f';
    bytes[bytes.size() - 48] = 'X'; // the mark of the last block
    write_bytes(folder / "bad.stream", bytes);
    const Outcome bad = run({"import", folder / "bad.stream", "-o", folder / "t.trace"});
    EXPECT_EQ(bad.code, 3);
    EXPECT_EQ(lines_of(bad.err).size(), 1U);
    EXPECT_THAT(bad.err, HasSubstr("bad.stream: the block at byte "));
    EXPECT_EQ(bad.out, "");
    EXPECT_EQ(run({"show", folder / "t.trace", "--what", "splits"}).code, 0);
}

} // namespace
} // namespace schedscope::test
