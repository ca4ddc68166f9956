// What goes wrong with a trace while it is looked at is told, and the inspector stays open.
#include "tests/inspector/tui/harness/inspecting.h"
#include "tests/inspector/tui/harness/samples.h"
#include "traces/store/sqlite.h"
#include "traces/store/stop_signal.h"

#include <gtest/gtest.h>

#include <atomic>
#include <csignal>
#include <filesystem>
#include <fstream>

#include <sys/stat.h>
#include <unistd.h>

namespace schedscope {
namespace {

using test::Inspecting;
using test::Terminal;
namespace fs = std::filesystem;

/// A copy of a sample, under the program's eyes.
class Watched : public ::testing::Test {
protected:
    void SetUp() override {
        fs::copy_file(test::sample_path("partial-offload"), path);
        fs::permissions(path, fs::perms::owner_all);
    }
    void TearDown() override { fs::remove(path); }
    std::vector<std::string> inspect() const { return {paths::program("schedscope"), "inspect", path.string()}; }

    const fs::path path = fs::temp_directory_path() / ("schedscope-damage-" + std::to_string(getpid()) + ".trace");
};

TEST_F(Watched, DamageFarFromWhatIsShownIsTold) {
    {
        sqlite::Database database(path.string(), sqlite::Database::Mode::edit);
        database.execute("UPDATE capability SET answers = x'00' WHERE graph = 0"); // the graph that is shown is a later one
    }
    Terminal t(24, 160, inspect());
    EXPECT_TRUE(t.shows("answers about graph 0")) << t.text();
    EXPECT_TRUE(t.shows("the trace is damaged")) << t.text();
    t.press("q");
    EXPECT_EQ(t.wait_for_exit(), 0);
}

TEST_F(Watched, ACellThatWasChangedAfterItWasWrittenIsToldByItsTable) {
    {
        sqlite::Database database(path.string(), sqlite::Database::Mode::edit);
        database.execute("UPDATE placement SET size = size + 32 WHERE step = (SELECT min(step) FROM placement)");
    }
    Terminal t(24, 160, inspect());
    EXPECT_TRUE(t.shows("table placement: changed after it was written")) << t.text();
    EXPECT_TRUE(t.shows("the trace was changed")) << t.text();
    EXPECT_EQ(t.text().find("damaged"), std::string::npos) << t.text();
    t.press("q");
    EXPECT_EQ(t.wait_for_exit(), 0);
}

TEST_F(Watched, ItIsNotWrittenOver) {
    const auto content = [this] {
        std::ifstream in(path, std::ios::binary);
        return std::string(std::istreambuf_iterator<char>(in), {});
    };
    const std::string before = content(), link = path.string() + ".svg", pipe = path.string() + ".dot";
    fs::create_symlink(path, link);
    ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
    Terminal t(24, 160, inspect());
    ASSERT_TRUE(t.shows("q quit")) << t.text();
    t.press(":write! " + path.string() + "\n");
    EXPECT_TRUE(t.shows(path.string() + " is in use here: name another file")) << t.text();
    t.press(":dot! " + link + "\n");
    EXPECT_TRUE(t.shows(link + " is in use here: name another file")) << t.text();
    t.press(":dot! " + pipe + "\n"); // which would wait for a reader
    EXPECT_TRUE(t.shows(pipe + " is not a regular file")) << t.text();
    t.press("q");
    EXPECT_EQ(t.wait_for_exit(), 0);
    EXPECT_TRUE(content() == before);
    fs::remove(link);
    fs::remove(pipe);
}

TEST_F(Watched, CutOffItSaysSoAndTheInspectorStaysOpen) {
    Terminal t(24, 120, inspect());
    ASSERT_TRUE(t.shows("q quit")) << t.text();
    ASSERT_EQ(truncate(path.c_str(), 8192), 0);
    t.press("w\n"); // which reads all plans: that of the first decode was not read
    EXPECT_TRUE(t.shows("became shorter while it was read")) << t.text();
    t.press("j1");
    EXPECT_FALSE(t.ended()) << t.text();
    t.press("q");
    EXPECT_EQ(t.wait_for_exit(), 0);
}

TEST_F(Watched, ReplacedItIsShownOnAsItWas) {
    Terminal t(24, 120, inspect());
    ASSERT_TRUE(t.shows("q quit")) << t.text();
    fs::remove(path);
    t.press("j");
    EXPECT_TRUE(t.shows("the file was removed")) << t.text();
    std::ofstream(path) << "something else";
    t.press("<");
    EXPECT_TRUE(t.shows("step 0/")) << t.text();
    t.press("2");
    EXPECT_TRUE(t.shows("no split yet")) << t.text();
    t.press("q");
    EXPECT_EQ(t.wait_for_exit(), 0);
}

TEST_F(Watched, AnotherOneInItsPlaceIsTold) {
    Terminal t(24, 120, inspect());
    ASSERT_TRUE(t.shows("q quit")) << t.text();
    fs::copy_file(test::sample_path("all-cpu"), path.string() + ".new");
    fs::rename(path.string() + ".new", path);
    t.press("j");
    EXPECT_TRUE(t.shows("the file was replaced")) << t.text();
    t.press("q");
    EXPECT_EQ(t.wait_for_exit(), 0);
}

std::atomic<bool> endless = false;

/// From SIGUSR1 on, reading goes on until it is to stop.
class EndlessSource final : public RecordSource {
public:
    EndlessSource(std::shared_ptr<const RecordSource> source, std::shared_ptr<StopSignal> stop)
        : source_(std::move(source)), stop_(std::move(stop)) {}

    SessionInfo session() const override { return source_->session(); }
    Step n_steps() const override { return source_->n_steps(); }
    int n_evaluations() const override { return source_->n_evaluations(); }
    EvaluationSpan evaluation(EvaluationId id) const override { return source_->evaluation(id); }
    void read(Step first, Step end, std::vector<Record>& out) const override {
        while (endless) {
            if (stop_->wanted()) {
                throw Interrupted();
            }
        }
        source_->read(first, end, out);
    }
    int n_graphs() const override { return source_->n_graphs(); }
    const OwnedGraph& graph(GraphId id) const override { return source_->graph(id); }
    const CapabilityTable& answers(GraphId id) const override { return source_->answers(id); }
    std::string_view text(StringId id) const override { return source_->text(id); }
    const KernelList& kernels(KernelListId id) const override { return source_->kernels(id); }
    Step next_of(Step from, FactSet kinds) const override { return source_->next_of(from, kinds); }
    Step previous_of(Step from, FactSet kinds) const override { return source_->previous_of(from, kinds); }

private:
    std::shared_ptr<const RecordSource> source_;
    std::shared_ptr<StopSignal> stop_;
};

int inspect_endless() {
    std::signal(SIGUSR1, [](int) { endless = true; });
    InspectorOptions options;
    options.title = "endless";
    options.stop = std::make_shared<StopSignal>();
    return run_inspector(std::make_shared<EndlessSource>(test::sample("partial-offload"), options.stop), options);
}

TEST(ReadingWithoutEnd, IsEndedByQ) {
    Inspecting t(24, 120, inspect_endless);
    t.send_signal(SIGUSR1);
    t.press("<q");
    EXPECT_EQ(t.wait_for_exit(), 0) << t.text();
}

TEST(ReadingWithoutEnd, IsEndedByCtrlC) {
    Inspecting t(24, 120, inspect_endless);
    t.send_signal(SIGUSR1);
    t.press("<");
    t.send_signal(SIGINT);
    EXPECT_EQ(t.wait_for_exit(), 130) << t.text();
}

} // namespace
} // namespace schedscope
