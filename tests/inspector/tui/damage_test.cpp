// A trace is read through in the background: what is wrong with it is told, wherever in the file it stands.
#include "tests/inspector/tui/samples.h"
#include "traces/sqlite.h"

#include <gtest/gtest.h>

#include <filesystem>

#include <unistd.h>

namespace schedscope {
namespace {

using testing::Terminal;

TEST(Damage, FarFromWhatIsShownIsTold) {
    const std::filesystem::path path =
        std::filesystem::temp_directory_path() / ("schedscope-damage-" + std::to_string(getpid()) + ".trace");
    std::filesystem::copy_file(testing::sample_path("partial-offload"), path);
    std::filesystem::permissions(path, std::filesystem::perms::owner_all);
    {
        sqlite::Database database(path.string(), sqlite::Database::Mode::recover);
        database.execute("UPDATE capability SET answers = x'00' WHERE graph = 0"); // the graph that is shown is a later one
    }
    {
        Terminal t(24, 160, [&] {
            InspectorOptions options;
            options.title = "damaged";
            options.trace_path = path.string();
            options.check = true;
            return run_inspector(std::make_shared<TraceReader>(path.string()), options);
        });
        EXPECT_TRUE(t.shows("answers about graph 0")) << t.text();
        EXPECT_TRUE(t.shows("the trace is damaged")) << t.text();
        t.press("q");
        EXPECT_EQ(t.wait_for_exit(), 0);
    }
    std::filesystem::remove(path);
}

} // namespace
} // namespace schedscope
