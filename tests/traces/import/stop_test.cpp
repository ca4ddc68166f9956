// An import that somebody stops: what was complete is there, and nothing else is said of the log.

#include "tests/support/paths.h"
#include "tests/support/traces/imported.h"

#include <atomic>
#include <gmock/gmock.h>

namespace schedscope::test {
namespace {

const std::string several_texts = paths::log("several"); // graphs

/// Keeps what it is given, and wants the import to stop once it has so many graphs.
class Stopper final : public Recorder {
public:
    explicit Stopper(int n_graphs) : left_(n_graphs), stop(n_graphs == 0) {}
    void session(const SessionInfo& info) override {
        ++n_calls;
        store->session(info);
    }
    void graph(GraphId id, const GraphView& graph, const CapabilityTable& answers) override { store->graph(id, graph, answers); }
    StringId intern(std::string_view text) override { return store->intern(text); }
    void keep(const Record& record) override { store->keep(record); }
    void flush() override {
        store->flush();
        stop = --left_ == 0 || stop;
    }

private:
    int left_;

public:
    std::atomic<bool> stop;
    int n_calls = 0;
    std::shared_ptr<LiveStore> store = std::make_shared<LiveStore>();
};

TEST(StoppedImport, HasTheGraphsThatWereCompleteAndNoOther) {
    const int all = Imported::file(several_texts).result.n_graphs;
    ASSERT_GT(all, 1);
    for (int n = 1; n < all; ++n) {
        SCOPED_TRACE(std::to_string(n) + " graphs");
        Stopper recorder(n);
        const ImportResult result = import_log(several_texts, recorder, &recorder.stop);
        EXPECT_TRUE(result.stopped);
        EXPECT_EQ(result.n_graphs, n);
        EXPECT_EQ(recorder.store->n_evaluations(), n);
        EXPECT_THAT(result.notes, ::testing::ElementsAre("the import was stopped: what follows in the log is not here"));
        History history(recorder.store);
        const Imported whole = Imported::file(several_texts);
        int64_t n_splits = 0;
        for (int e = 0; e < n; ++e) {
            n_splits += static_cast<int64_t>(history.plan(e).splits.size());
            EXPECT_EQ(history.plan(e).splits.size(), whole.history->plan(e).splits.size());
            EXPECT_EQ(history.plan(e).tensors.size(), whole.history->plan(e).tensors.size());
        }
        EXPECT_EQ(result.n_splits, n_splits);
    }
}

TEST(StoppedImport, GivesNothingBeforeTheLogWasReadOnce) {
    Stopper recorder(0);
    for (const std::string& log : {several_texts, paths::source("README.md")}) { // which is no log: nobody knows yet
        const ImportResult result = import_log(log, recorder, &recorder.stop);
        EXPECT_TRUE(result.stopped);
        EXPECT_EQ(result.n_graphs, 0);
        EXPECT_EQ(recorder.n_calls, 0);
    }
}

} // namespace
} // namespace schedscope::test
