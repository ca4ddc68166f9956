// What another program plans again and again is kept once, and nothing that reads the trace can tell.
#include "tests/corpus/run_case.h"
#include "tests/support/traces/corpus_run.h"
#include "tests/support/traces/faces.h"
#include "tests/support/traces/foreign_stream.h"
#include "traces/history/accounts/summary.h"
#include "traces/history/history.h"
#include "traces/history/words/verdict_words.h"
#include "traces/replay/replay.h"
#include "traces/store/writer.h"

#include <gmock/gmock.h>

#include <filesystem>

namespace schedscope::test {
namespace {

using ::testing::ElementsAre;

/// The case's plan so many times; `change`: what is done to its graph before each.
std::shared_ptr<LiveStore> planned(
    const corpus::Case& c, int n, const std::function<void(int, OwnedGraph&)>& change = [](int, OwnedGraph&) {}) {
    ForeignStream stream;
    const SessionInfo info = session_of(c);
    stream.recorder().session(info);
    for (int i = 0; i < n; ++i) {
        OwnedGraph graph = OwnedGraph::copy_of(c.graph.view());
        change(i, graph);
        CapabilityTable table;
        fill_table(table, info, corpus::MockCapabilities(c, graph.view()), static_cast<int32_t>(graph.tensors.size()));
        ForeignStream::Options options;
        options.kind = GraphKind::decode;
        options.op_offload = c.op_offload;
        stream.plan(graph.view(), table, real_plan_of(c, c.rounds[0].expected), options);
    }
    return stream.imported();
}

std::vector<EvaluationId> planned_in(const LiveStore& store) {
    std::vector<EvaluationId> ids;
    for (EvaluationId id = 0; id < store.n_evaluations(); ++id) {
        EXPECT_FALSE(store.evaluation(id).begin.reused) << id;
        ids.push_back(store.evaluation(id).begin.planned_in);
    }
    return ids;
}

TEST(RepeatedPlan, IsKeptOnceAndCountedEachTime) {
    with_corpus_case(false, [](const corpus::Case& c) {
        const auto once = planned(c, 1), often = planned(c, 5);
        EXPECT_THAT(planned_in(*often), ElementsAre(0, 0, 0, 0, 0));
        EXPECT_EQ(often->n_graphs(), 1);
        EXPECT_EQ(often->count(fact_bit<record::PlanBegin>()), 1);
        EXPECT_EQ(often->n_steps(), once->n_steps() + 4 * 2) << "an evaluation that comes again begins and ends";
        History history(often);
        EXPECT_EQ(history.plan(4).splits.size(), history.plan(0).splits.size());
        EXPECT_EQ(accounts::summary(history).plans, 5);
        const std::vector<VerdictRow> rows = verdicts_of(*often, often->n_steps());
        ASSERT_EQ(rows.size(), 5U);
        for (size_t i = 0; i < rows.size(); ++i) {
            EXPECT_EQ(rows[i].eval, static_cast<EvaluationId>(i));
            EXPECT_EQ(rows[i].kind, GraphKind::decode);
            EXPECT_TRUE(rows[i].verdict.reproduced());
        }
        const ReplayResult again = replay(*often);
        EXPECT_EQ(again.plans, 5);
        EXPECT_EQ(again.identical, again.compared);
        EXPECT_EQ(again.compared, 5 * replay(*once).compared);
        for (const Face& face : trace_faces()) {
            EXPECT_NO_THROW(try_it([&] { face.look(often); })) << face.name;
        }
    });
}

TEST(RepeatedPlan, IsWrittenAgainWhereMemoryWasPlannedForIt) {
    with_corpus_case(true, [](const corpus::Case& c) {
        const auto store = planned(c, 4);
        EXPECT_EQ(store->n_graphs(), 1);
        EXPECT_THAT(planned_in(*store), ElementsAre(0, 1, 1, 1)) << "the first made the buffers";
        const ReplayResult again = replay(*store);
        EXPECT_EQ(again.plans, 4);
        EXPECT_EQ(again.identical, again.compared);
    });
}

TEST(RepeatedPlan, DiffersByASizeAPinOrAName) {
    with_corpus_case(false, [](const corpus::Case& c) {
        const std::vector<std::function<void(OwnedGraph&)>> changes = {
            [](OwnedGraph& g) { g.tensors.back().view_offset += 64; },
            [](OwnedGraph& g) { g.tensors.front().name = g.keep("another"); },
            [](OwnedGraph& g) { g.tensors.back().flags ^= flag_output; },
            [](OwnedGraph& g) { (*g.tensors.back().params)[5] ^= 1; },
        };
        for (size_t i = 0; i < changes.size(); ++i) {
            const auto store = planned(c, 3, [&](int n, OwnedGraph& g) { n == 1 ? changes[i](g) : void(); });
            EXPECT_EQ(store->n_graphs(), 2) << i;
            EXPECT_THAT(planned_in(*store), ElementsAre(0, 1, 0)) << i << ": the third is the first again";
        }
    });
}

/// An hour of decoding at 30 tokens a second.
TEST(RepeatedPlan, LeavesAnHourOfDecodingSmall) {
    with_corpus_case(false, [](const corpus::Case& c) {
        const auto bytes_of = [&](int n) {
            const auto store = planned(c, n);
            const files::Folder folder;
            TraceWriter writer(folder / "t.trace");
            writer.session(store->session());
            for (GraphId g = 0; g < store->n_graphs(); ++g) {
                writer.graph(g, store->graph(g).view(), store->answers(g));
            }
            Step next = 0; // with what runs in each: its splits, a copy and a wait
            store->for_each(0, store->n_steps(), [&](Record r) {
                const bool ends = std::holds_alternative<record::EvaluationEnd>(r.fact);
                for (int32_t split = 0; ends && split < 4; ++split) {
                    for (const Fact& fact : {Fact(record::Transfer{.split = split, .tensor = 0, .copy = 0, .from = 0, .to = 0}),
                                             Fact(record::Wait{split, 0, 1, 2})}) {
                        writer.keep({next++, r.time_ns, r.evaluation, fact});
                    }
                    SplitPart part;
                    part.split = split;
                    part.backend = 0;
                    part.start_ns = 1;
                    part.end_ns = 2;
                    writer.keep_part({next++, 0, r.evaluation, part});
                }
                r.step = next++;
                writer.keep(r);
            });
            writer.close();
            return static_cast<int64_t>(std::filesystem::file_size(folder / "t.trace"));
        };
        constexpr int few = 200, many = 1200;
        const int64_t each = (bytes_of(many) - bytes_of(few)) / (many - few);
        constexpr int64_t tokens_of_an_hour = 30 * 3600, most = 200'000'000;
        EXPECT_LT(each * tokens_of_an_hour, most) << each << " bytes an evaluation";
        EXPECT_GT(each, 50) << "each is there";
    });
}

} // namespace
} // namespace schedscope::test
