// A long trace is on the screen at once, because most of it is not read.
#include "inspector/tui/inspector.h"

#include "tests/inspector/tui/made_trace.h"
#include "tests/inspector/tui/terminal.h"
#include "traces/reader.h"
#include "traces/writer.h"

#include <gtest/gtest.h>

#include <filesystem>

#include <unistd.h>

namespace schedscope {
namespace {

namespace fs = std::filesystem;

TEST(FirstFrame, ReadsLittleOfALongTrace) {
    const std::string path = fs::temp_directory_path() / ("schedscope-first-frame-" + std::to_string(getpid()));
    {
        TraceWriter writer(path);
        testing::MadeRun(2).record(writer, 200);
        writer.close();
    }
    const auto n_pages = static_cast<int64_t>(fs::file_size(path) / 4096);
    testing::Terminal t(24, 80, [&] {
        const auto reader = std::make_shared<TraceReader>(path);
        run_inspector(reader, {});
        return reader->pages_read() < n_pages / 10 ? 0 : 1;
    });
    EXPECT_TRUE(t.shows("q quit")) << t.text();
    EXPECT_TRUE(t.shows("norm")) << t.text();
    t.press("q");
    EXPECT_EQ(t.wait_for_exit(), 0) << "read more than a tenth of " << n_pages << " pages";
    fs::remove(path);
}

} // namespace
} // namespace schedscope
