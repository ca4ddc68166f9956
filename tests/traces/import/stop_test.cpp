// An import that somebody stops: what was complete is there, and nothing else is said of the log.

#include "tests/support/paths.h"
#include "tests/support/traces/imported.h"
#include "tests/support/traces/stopper.h"

#include <gmock/gmock.h>

namespace schedscope::test {
namespace {

const std::string several_texts = paths::log("several"); // graphs

TEST(StoppedImport, HasTheGraphsThatWereCompleteAndNoOther) {
    const int all = Imported::file(several_texts).result.n_graphs;
    ASSERT_GT(all, 1);
    for (int n = 1; n < all; ++n) {
        SCOPED_TRACE(std::to_string(n) + " graphs");
        Stopper recorder(n);
        const ImportResult result = import_file(several_texts, recorder, &recorder.stop);
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
    for (const std::string& log : {several_texts, paths::source("README.md")}) { // which is no log: which is not known yet
        const ImportResult result = import_file(log, recorder, &recorder.stop);
        EXPECT_TRUE(result.stopped);
        EXPECT_EQ(result.n_graphs, 0);
        EXPECT_EQ(recorder.n_calls, 0);
    }
}

} // namespace
} // namespace schedscope::test
