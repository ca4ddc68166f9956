// A comparison that takes long is stopped by Esc and by Ctrl-C, and the answer before it stays.
#include "inspector/tui/background/stoppable_source.h"

#include "tests/inspector/tui/harness/inspecting.h"
#include "tests/inspector/tui/harness/samples.h"

#include <gtest/gtest.h>

#include <atomic>
#include <csignal>

#include <sys/eventfd.h>
#include <unistd.h>

namespace schedscope {
namespace {

using test::Inspecting;

int keep_going = -1; ///< an event: what is held may go on
void let_go(int) {
    const uint64_t one = 1;
    [[maybe_unused]] const auto written = write(keep_going, &one, sizeof one);
}

/// Holds the second thread of work that reads it until SIGUSR1 comes. The first one to read it is the inspector itself.
class HeldSource final : public RecordSource {
public:
    explicit HeldSource(std::shared_ptr<const RecordSource> source) : source_(std::move(source)) { number(); }

    SessionInfo session() const override { return source_->session(); }
    Step n_steps() const override { return source_->n_steps(); }
    int n_evaluations() const override { return source_->n_evaluations(); }
    EvaluationSpan evaluation(EvaluationId id) const override { return source_->evaluation(id); }
    void read(Step first, Step end, std::vector<Record>& out) const override {
        constexpr int held = 2;
        uint64_t count = 0;
        while (number() == held && !released_.load()) {
            released_ = ::read(keep_going, &count, sizeof count) > 0;
        }
        source_->read(first, end, out);
    }
    int n_graphs() const override { return source_->n_graphs(); }
    const OwnedGraph& graph(GraphId id) const override { return source_->graph(id); }
    const CapabilityTable& answers(GraphId id) const override { return source_->answers(id); }
    std::string_view text(StringId id) const override { return source_->text(id); }
    const KernelList& kernels(KernelListId id) const override { return source_->kernels(id); }

private:
    /// Of the thread that asks, in the order in which they came.
    static int number() {
        static std::atomic<int> threads{0};
        thread_local const int mine = threads++;
        return mine;
    }
    std::shared_ptr<const RecordSource> source_;
    mutable std::atomic<bool> released_{false};
};

int inspect_held() {
    keep_going = eventfd(0, EFD_CLOEXEC);
    std::signal(SIGUSR1, let_go);
    InspectorOptions options;
    options.backends.optimise = optimised_nodes;
    options.title = "held";
    return run_inspector(std::make_shared<HeldSource>(test::sample("partial-offload")), options);
}

class Stop : public ::testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(By, Stop, ::testing::Values("{Esc}", "{Ctrl-C}"));

TEST_P(Stop, KeepsTheAnswerBefore) {
    Inspecting t(30, 120, inspect_held);
    t.press("wngl=0\n");
    ASSERT_TRUE(t.shows(" rows: what if ngl=0 ")) << t.text();
    t.press("w{Ctrl-U}ngl=1\n");
    ASSERT_TRUE(t.shows("planning again …: Esc stops")) << t.text();
    EXPECT_TRUE(t.shows(" rows: what if ngl=0 ")) << "what there was is still shown: " << t.text();
    EXPECT_TRUE(t.shows("comparing, Esc stops")) << t.text();
    t.press("w");
    ASSERT_TRUE(t.shows("the last comparison is not done yet: Esc stops it")) << t.text();
    t.press(GetParam());
    ASSERT_TRUE(t.shows("stopping the comparison …")) << t.text();
    t.send_signal(SIGUSR1);
    ASSERT_TRUE(t.shows("stopped: what was compared before stays")) << t.text();
    EXPECT_TRUE(t.shows(" rows: what if ngl=0 ")) << t.text();
    EXPECT_EQ(t.find("comparing").first, -1) << t.text();
    t.press("w");
    ASSERT_TRUE(t.shows("what if ngl=1")) << "to be changed and asked again: " << t.text();
    t.press("\n");
    EXPECT_TRUE(t.shows(": what if ngl=1 ")) << t.text();
    t.press("q");
    EXPECT_EQ(t.wait_for_exit(), 0);
}

TEST(StoppableSource, EndsWhateverReadsIt) {
    std::stop_source stop;
    const tui::StoppableSource source(test::sample("partial-offload"), stop.get_token());
    EXPECT_GT(source.n_steps(), 0);
    stop.request_stop();
    std::vector<Record> records;
    EXPECT_THROW(source.read(0, 1, records), Interrupted);
    EXPECT_THROW(source.graph(0), Interrupted);
    EXPECT_TRUE(records.empty());
}

} // namespace
} // namespace schedscope
