// Another program's plans are made again, and compared with what its scheduler did: ggml's own decisions, from the corpus.

#include "tests/support/traces/corpus_run.h"
#include "tests/support/traces/foreign_stream.h"
#include "traces/history/words/verdict_words.h"

#include <gmock/gmock.h>

namespace schedscope::test {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

std::vector<VerdictRow> verdicts(const LiveStore& store) { return verdicts_of(store, store.n_steps()); }

TEST(Foreign, EveryPlanOfTheCorpusIsReproduced) {
    int64_t plans = 0, decisions = 0, placements = 0, causes = 0;
    const CorpusPart part = for_each_corpus_case(1, [&](const corpus::Case& c) {
        if (c.error_round >= 0) {
            return;
        }
        const std::vector<VerdictRow> rows = verdicts(*streamed_case(c));
        ASSERT_EQ(rows.size(), c.rounds.size()) << c.name;
        for (const VerdictRow& row : rows) {
            ASSERT_EQ(row.first, "") << c.name;
            ASSERT_TRUE(row.verdict.reproduced()) << c.name;
            ++plans;
            decisions += row.verdict.decisions;
            placements += row.verdict.placements.value_or(0);
            causes += row.verdict.causes;
        }
    });
    if (part == CorpusPart::whole) {
        EXPECT_GT(plans, 2000);
        EXPECT_GT(decisions, 200000);
        EXPECT_GT(placements, 20000);
        EXPECT_GT(causes, 50000);
    }
}

} // namespace
} // namespace schedscope::test
