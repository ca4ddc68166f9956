// Logs that have no end, or come to more than anything a scheduler ever planned.
#include "runtime/error.h"
#include "tests/support/paths.h"
#include "tests/support/traces/imported.h"

#include <csignal>
#include <cstdio>
#include <gmock/gmock.h>
#include <thread>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace schedscope::test {
namespace {

using ::testing::EndsWith;

/// What is said of the log; the number of graphs when nothing is.
std::string said(const std::string& path, const ImportLimits& limits) {
    LiveStore store;
    try {
        return std::to_string(import_file(path, store, nullptr, limits).n_graphs);
    } catch (const Error& error) {
        EXPECT_EQ(error.kind(), ErrorKind::input);
        return error.what();
    }
}

/// A pipe into which somebody writes this until it is read no more.
class EndlessPipe {
public:
    explicit EndlessPipe(std::string text) {
        const LogText name("");
        path_ = name.path() + ".pipe";
        EXPECT_EQ(mkfifo(path_.c_str(), 0600), 0);
        writer_ = std::thread([this, text = std::move(text)] {
            std::signal(SIGPIPE, SIG_IGN);
            const int end = open(path_.c_str(), O_WRONLY | O_CLOEXEC);
            while (write(end, text.data(), text.size()) > 0) {}
            close(end);
        });
    }
    ~EndlessPipe() {
        writer_.join();
        std::remove(path_.c_str());
    }
    EndlessPipe(const EndlessPipe&) = delete;
    EndlessPipe& operator=(const EndlessPipe&) = delete;
    const std::string& path() const { return path_; }

private:
    std::string path_;
    std::thread writer_;
};

const std::string several = paths::log("several");

TEST(EndlessLog, IsReadToItsLimit) {
    const EndlessPipe pipe("y\n");
    EXPECT_EQ(said(pipe.path(), {.bytes = 1 << 20}),
              pipe.path() + ": is longer than 1 MiB, which is the most that is read of a log");
}

TEST(EndlessLog, MayBeALineWithoutAnEnd) {
    const EndlessPipe pipe("yyyyyyyyyyyyyyyy");
    EXPECT_EQ(said(pipe.path(), {.endless_line_bytes = 1 << 20}), pipe.path() + ": has a line of more than 1 MiB: it is no log");
}

TEST(EndlessLog, IsMeasuredByItsLongestLineAlone) {
    const LogText log(std::string(3 << 20, 'x') + "\n" + std::string(3 << 20, 'y') + "\n## SPLIT #0: CPU # 0 inputs\n");
    EXPECT_EQ(said(log.path(), {.endless_line_bytes = 4 << 20}), "1");
    EXPECT_THAT(said(log.path(), {.endless_line_bytes = 2 << 20}), EndsWith("has a line of more than 2 MiB: it is no log"));
}

TEST(LargeLog, IsRefusedBeforeItIsRead) {
    const LogText log("## SPLIT #0: CPU # 0 inputs\n");
    ASSERT_EQ(truncate(log.path().c_str(), budget::log_bytes + 1), 0);
    EXPECT_EQ(said(log.path(), {}), log.path() + ": is longer than 2 GiB, which is the most that is read of a log");
}

TEST(LargeGraph, IsRefused) {
    std::string text = "## SPLIT #0: CPU # 0 inputs\n";
    for (int i = 0; i < 1000; ++i) {
        const std::string n = std::to_string(i);
        text += "node #" + n + " (MUL): t" + n + " (10K) [CPU] use=1,c=1: a" + n + " (10K) [CPU] b" + n + " (10K) [CPU]\n";
    }
    const LogText log(text);
    EXPECT_EQ(said(log.path(), {.graph_tensors = 4000}), "1");
    EXPECT_EQ(said(log.path(), {.graph_tensors = 2000}),
              log.path() + ": a graph of more than 2000 tensors is too large to be read from a log");
}

TEST(LargeGraph, IsNotMadeOfANumber) {
    const LogText log("## SPLIT #0: CPU # 0 inputs\nnode #90000 (MUL): t (10K) [CPU] use=1,c=1: a (10K) [CPU]\n");
    Imported whole = Imported::file(log.path());
    EXPECT_EQ(whole.result.n_nodes - whole.result.n_left_out, 1);
    LiveStore store;
    const ImportResult bounded = import_file(log.path(), store, nullptr, {.graph_tensors = 2000});
    EXPECT_EQ(bounded.n_nodes, 0);
    EXPECT_THAT(bounded.notes, ::testing::Contains("1 line left out: numbers that can't be"));
}

TEST(LargeLog, MakesNoMoreRecordsThanALimit) {
    const int graphs = Imported::file(several).result.n_graphs;
    ASSERT_GT(graphs, 1);
    EXPECT_EQ(said(several, {}), std::to_string(graphs));
    EXPECT_EQ(said(several, {.records = 20}), several + ": more than 20 records would be made of this log; the trace ends there");
}

TEST(WrappedLine, GoesOnNoLongerThanALineMayBe) {
    // Each line adds a source to the node above, so that it is read from its beginning again: a thousand times, not a million.
    std::string text = "## SPLIT #0: CPU # 0 inputs\nnode #0 (MUL): t (10K) [CPU] use=1,c=1:";
    for (int i = 0; i < 300; ++i) {
        text += "\n" + std::string(8000, ' ') + "a" + std::to_string(i) + " (10K) [CPU]";
    }
    Imported imported = Imported::text(text + "\n");
    EXPECT_EQ(imported.result.n_nodes, 1);
}

} // namespace
} // namespace schedscope::test
