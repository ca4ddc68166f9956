// `dot` from the command line: pictures of passes, large graphs, and Ctrl-C while Graphviz works.
#include "tests/inspector/cli/harness/files.h"
#include "tests/inspector/cli/harness/program.h"
#include "tests/support/paths.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <csignal>
#include <filesystem>

namespace schedscope::test {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

using paths::sample;

TEST(PicturesOfPasses, AreNamedByPass) {
    const Folder folder;
    const Outcome outcome =
        run({"dot", sample("partial-offload"), "--eval", "0", "--view", "layers", "--pass", "all", "-o", folder / "plan.svg"});
    ASSERT_EQ(outcome.code, 0) << outcome.err;
    EXPECT_EQ(outcome.err, "");
    std::vector<std::string> expected;
    for (const char* pass : {"1", "2a", "2b", "2c", "2d", "3", "4", "5", "allocate", "execute", "optimise"}) {
        expected.push_back("plan-" + std::string(pass) + ".svg");
        EXPECT_THAT(outcome.out, HasSubstr(folder / expected.back() + "\n"));
        EXPECT_THAT(read_bytes(folder / expected.back()), StartsWith("<?xml"));
    }
    EXPECT_EQ(folder.names(), expected);
}

TEST(Picture, IsDrawnAlsoWhereTheStarterIgnoresTheEndOfChildren) {
    const Folder folder;
    const auto ignored = std::signal(SIGCHLD, SIG_IGN); // which what is started here inherits
    Program program({"dot", sample("all-cpu"), "-o", folder / "plan.svg"});
    std::signal(SIGCHLD, ignored);
    const Outcome outcome = program.wait();
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    EXPECT_THAT(read_bytes(folder / "plan.svg"), StartsWith("<?xml"));
}

TEST(PicturesOfPasses, SayWhatTheyDrawWhereSplitsAreNotThereYet) {
    const Folder folder;
    const Outcome outcome = run({"dot", sample("all-cpu"), "--pass", "all", "-o", folder / "plan.dot"});
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    EXPECT_EQ(outcome.err, "schedscope: drawing --view nodes, since there are splits from pass 5 on only\n");
}

TEST(Picture, GoesToStandardOutputUnderTheNameThatAllExportsHaveForIt) {
    const Outcome named = run({"dot", sample("all-cpu"), "-o", "-"});
    EXPECT_EQ(named.code, 0) << named.err;
    EXPECT_EQ(named.out, run({"dot", sample("all-cpu")}).out);
    EXPECT_THAT(named.out, StartsWith("digraph "));
}

TEST(PicturesOfPasses, NeedAName) {
    EXPECT_EQ(run({"dot", sample("all-cpu"), "--pass", "all"}).code, 2);
    EXPECT_EQ(run({"dot", sample("all-cpu"), "--pass", "all", "-o", "-"}).code, 2);
    EXPECT_EQ(run({"dot", sample("all-cpu"), "--pass", "all", "--step", "9", "-o", "x.svg"}).code, 2);
}

/// The plan of a model of 80 blocks: more nodes than are drawn without being asked for.
std::string large_trace(const Folder& folder) {
    const std::string file = folder / "m.gguf", trace = folder / "t.trace";
    EXPECT_EQ(run({"synth", "llama", "--preset", "70b", "--header-only", "-o", file}).code, 0);
    const Outcome outcome =
        run({"record", "-m", file, "--dry-run", "-c", "512", "--device", "big=vulkan:24GiB,cpu", "-ngl", "40", "-o", trace});
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    std::filesystem::remove(file);
    return trace;
}

TEST(LargePicture, ShowsLayersAndSaysSo) {
    const Folder folder;
    const Outcome outcome = run({"dot", large_trace(folder)});
    EXPECT_EQ(outcome.code, 0);
    EXPECT_THAT(outcome.out, StartsWith("digraph \"layers\""));
    EXPECT_EQ(outcome.err, "schedscope: more than 2,000 nodes: drawing --view layers; --view nodes draws every tensor\n");
}

/// Is there a process that lays out, started by one whose command line names this file?
bool lays_out(const std::string& file) {
    for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
        const std::string id = entry.path().filename();
        if (id.find_first_not_of("0123456789") != std::string::npos) {
            continue;
        }
        try {
            if (read_bytes(entry.path() / "cmdline").find("--layout-child") == std::string::npos) {
                continue;
            }
            const std::string status = read_bytes(entry.path() / "status"), word = "PPid:\t";
            const size_t at = status.find(word) + word.size();
            const std::string parent = status.substr(at, status.find('\n', at) - at);
            if (read_bytes("/proc/" + parent + "/cmdline").find(file) != std::string::npos) {
                return true;
            }
        } catch (const std::exception&) { // it has ended meanwhile
        }
    }
    return false;
}

TEST(LargePicture, CtrlCEndsTheLayoutAndLeavesNoFile) {
    const Folder folder;
    const std::string trace = large_trace(folder);
    for (const std::vector<std::string>& more :
         {std::vector<std::string>{"--view", "nodes"}, {"--view", "nodes", "--pass", "all"}}) {
        std::vector<std::string> arguments{"dot", trace, "-o", folder / "p.svg"};
        arguments.insert(arguments.end(), more.begin(), more.end());
        Program program(arguments);
        while (!lays_out(folder / "p.svg") && !program.has_ended()) {}
        program.signal(SIGINT);
        const Outcome outcome = program.wait();
        EXPECT_EQ(outcome.code, 130) << outcome.err;
        EXPECT_LE(count(outcome.err, "\n"), 1U) << outcome.err;
        EXPECT_EQ(folder.names(), std::vector<std::string>{"t.trace"});
        EXPECT_FALSE(lays_out(folder / "p.svg"));
    }
}

} // namespace
} // namespace schedscope::test
