// Ten thousand tokens: nothing grows, nothing is lost, and the trace is opened without being read.
#include "tests/inspector/cli/harness/files.h"
#include "tests/inspector/cli/harness/program.h"
#include "traces/history/accounts/summary.h"
#include "traces/store/reading/reader.h"

#include <gtest/gtest.h>

#include <filesystem>

namespace schedscope::test {
namespace {

Outcome record(int n_tokens, const std::string& trace) {
    return run({"record", "-m", model(), "-p", "", "-n", std::to_string(n_tokens), "--ignore-eos", "--context-shift", "--temp",
                "0", "-t", "1", "--device", "cpu", "-o", trace});
}

TEST(ALongRecording, TakesNoMoreMemoryThanAShorterOne) {
    const Folder folder;
    const Outcome shorter = record(2000, folder / "short.trace"), longer = record(10000, folder / "long.trace");
    ASSERT_EQ(shorter.code, 0) << shorter.err;
    ASSERT_EQ(longer.code, 0) << longer.err;
    // The queue to the writer may have been fuller in one of them; the file has five times as much.
    EXPECT_LT(longer.peak_bytes - shorter.peak_bytes, 12 << 20);
    EXPECT_GT(std::filesystem::file_size(folder / "long.trace"), 4 * std::filesystem::file_size(folder / "short.trace"));
}

TEST(ALongRecording, HasEveryRecordAndOpensWithoutReadingThem) {
    constexpr int n_tokens = 10000;
    const Folder folder;
    const std::string trace = folder / "t.trace";
    ASSERT_EQ(record(n_tokens, trace).code, 0);
    const auto n_pages = static_cast<int64_t>(std::filesystem::file_size(trace) / 4096);
    const auto reader = std::make_shared<TraceReader>(trace);
    // Where evaluations begin is known from the first; it is a good part of a trace in which a split's kernels are one row.
    EXPECT_LT(reader->pages_read(), n_pages / 20) << "of " << n_pages;
    History history(reader);
    const accounts::Summary summary = accounts::summary(history);
    EXPECT_LT(reader->pages_read(), n_pages / 10) << "of " << n_pages;
    EXPECT_EQ(summary.tokens, n_tokens);
    EXPECT_GE(summary.evaluations, n_tokens);
    EXPECT_EQ(summary.failed, 0);

    // A record that is missing is an error of `read`.
    std::vector<Record> records;
    Step next = 0;
    while (next < summary.steps) {
        records.clear();
        ASSERT_NO_THROW(reader->read(next, next + 65536, records)) << next;
        for (const Record& r : records) {
            ASSERT_EQ(r.step, next++);
        }
    }
    EXPECT_EQ(next, summary.steps);
}

} // namespace
} // namespace schedscope::test
