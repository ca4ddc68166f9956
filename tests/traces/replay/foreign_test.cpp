// Another program's plans are made again, and compared with what its scheduler did: ggml's own decisions, from the corpus.

#include "tests/support/graphs/sketch.h"
#include "tests/support/traces/corpus_run.h"
#include "tests/support/traces/foreign_stream.h"
#include "traces/history/words/verdict_words.h"
#include "traces/replay/replay.h"

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

/// What is said of a case of which one thing was decided otherwise.
VerdictRow verdict_of(const corpus::Case& c, const std::function<void(RealPlan&)>& change) {
    const std::shared_ptr<LiveStore> store = streamed_case(c, [&](int, RealPlan& real) { change(real); });
    const std::vector<VerdictRow> rows = verdicts(*store);
    EXPECT_EQ(rows.size(), 1U);
    return rows.at(0);
}

TEST(Foreign, AnOtherDecisionIsNamed) {
    with_corpus_case(false, [](const corpus::Case& c) {
        const auto first_of = [&](const std::function<void(RealPlan&)>& change) {
            const VerdictRow row = verdict_of(c, [&](RealPlan& real) {
                real.causes.clear();
                change(real);
            });
            EXPECT_FALSE(row.verdict.reproduced());
            EXPECT_EQ(row.verdict.identical + 1, row.verdict.decisions);
            return row.first;
        };
        EXPECT_THAT(first_of([](RealPlan& real) { real.assigned[3].backend = real.assigned[3].backend == 0 ? 1 : 0; }),
                    HasSubstr(": ggml has it on "));
        EXPECT_THAT(first_of([](RealPlan& real) { --real.splits.back().end_node; }), HasSubstr("split "));
        EXPECT_THAT(first_of([](RealPlan& real) { real.sources.pop_back(); }), HasSubstr("ggml reads the tensor itself"));
        EXPECT_THAT(first_of([](RealPlan& real) {
                        for (RealPlan::Part& split : real.splits) {
                            if (!split.inputs.empty()) {
                                split.inputs[0] = split.inputs[0] == 0 ? 1 : 0;
                                return;
                            }
                        }
                    }),
                    StartsWith("input 0 of split "));
    });
}

TEST(Foreign, AnOtherPlaceAndAnOtherCauseAreNamed) {
    with_corpus_case(true, [](const corpus::Case& c) {
        const VerdictRow moved = verdict_of(c, [](RealPlan& real) { real.places.back().offset += 4096; });
        EXPECT_EQ(moved.verdict.identical, moved.verdict.decisions);
        EXPECT_EQ(moved.verdict.placements_identical.value_or(0) + 1, moved.verdict.placements.value_or(0));
        EXPECT_THAT(moved.first, HasSubstr(": ggml has it at "));
        const VerdictRow printed = verdict_of(c, [](RealPlan& real) { real.causes.front().cause = Cause::upgrade; });
        EXPECT_EQ(printed.verdict.causes_identical + 1, printed.verdict.causes);
        EXPECT_THAT(printed.first, HasSubstr("ggml says 3.upg"));
    });
}

/// The trace then says what ggml did, and that no cause is verified.
TEST(Foreign, WhatTheSchedulerDidIsInTheTrace) {
    with_corpus_case(false, [](const corpus::Case& c) {
        RealPlan real;
        const std::shared_ptr<LiveStore> store = streamed_case(c, [&](int, RealPlan& r) {
            r.assigned.back().backend = r.assigned.back().backend == 0 ? 1 : 0;
            real = r;
        });
        History history(store);
        const PlanState& state = history.plan(0);
        EXPECT_FALSE(causes_verified(state));
        for (const RealPlan::Assigned& a : real.assigned) {
            EXPECT_EQ(state.tensors[static_cast<size_t>(a.tensor)].backend, a.backend);
        }
        ASSERT_EQ(state.splits.size(), real.splits.size());
        for (size_t i = 0; i < real.splits.size(); ++i) {
            EXPECT_EQ(state.splits[i].backend(), real.splits[i].backend);
            EXPECT_EQ(state.splits[i].end_node, real.splits[i].end_node);
            EXPECT_EQ(state.splits[i].inputs.size(), real.splits[i].inputs.size());
        }
        EXPECT_EQ(state.rewires.size(), real.sources.size());
    });
}

/// A plan that older rules make: its age is found, and a replay goes by it.
TEST(Foreign, TheAgeIsFoundByWhatWasDecided) {
    for (const RulesAge& age : rules_ages()) {
        if (age.rules.split_inputs == 0) {
            continue;
        }
        // One input, then two a node: the thirtieth and the next come together, and room that grows has doubled by then.
        Sketch s{"GPU0", "CPU"};
        s.node("first", Op::ADD, {s.weight("w", "GPU0"), s.input("x")});
        for (int i = 0; i < 16; ++i) {
            const std::string at = std::to_string(i);
            s.at(s.node("sum" + at, Op::ADD, {s.input("x" + at), s.input("y" + at)})).user_backend = 0;
        }
        PlanOptions options;
        options.rules = age.rules;
        const Planned planned(s, options);
        RealPlan real;
        for (size_t id = 0; id < s.graph.tensors.size(); ++id) {
            real.assigned.push_back({static_cast<TensorId>(id), planned.plan.assignments[id].backend});
        }
        for (const Split& split : planned.plan.splits) {
            const auto first = planned.plan.split_inputs.begin() + split.first_input;
            real.splits.push_back({split.backend, split.first_node, split.end_node, {first, first + split.n_inputs}});
        }
        ForeignStream stream;
        stream.recorder().session(s.session);
        CapabilityTable table;
        fill_table(table, s.session, s, static_cast<int32_t>(s.graph.tensors.size()));
        for (const Rewire& r : planned.plan.rewires) {
            real.sources.push_back({r.node, r.source, {r.original, 0, 0}});
        }
        stream.plan(s.graph.view(), table, real, {});
        const std::shared_ptr<LiveStore> store = stream.imported();
        const std::vector<VerdictRow> rows = verdicts(*store);
        ASSERT_EQ(rows.size(), 1U);
        EXPECT_EQ(rows[0].first, "");
        const RulesAge* const found = rules_named(rows[0].rules);
        ASSERT_NE(found, nullptr) << rows[0].rules;
        EXPECT_EQ(found->rules.split_inputs, age.rules.split_inputs);
        const ReplayResult again = replay(*store);
        EXPECT_EQ(again.identical, again.compared);
    }
}

/// Two schedulers, of which one has a part of the session's backends, in another order of numbers.
TEST(Foreign, AnOwnListOfBackendsIsPlannedByItsOwnNumbers) {
    Sketch s{"GPU0", "CPU"};
    s.node("y", Op::MUL_MAT, {s.weight("w", "CPU"), s.input("x")});
    CapabilityTable table;
    fill_table(table, s.session, s, static_cast<int32_t>(s.graph.tensors.size()));
    RealPlan real;
    real.assigned = {{0, 1}, {1, 1}, {2, 1}};
    real.splits = {{1, 0, 1, {}}};
    ForeignStream stream;
    stream.recorder().session(s.session);
    ForeignStream::Options own;
    own.backends = {{7, 0, 1, no_buffer_type}};
    stream.plan(s.graph.view(), table, real, own);
    const std::shared_ptr<LiveStore> store = stream.imported();
    const std::vector<VerdictRow> rows = verdicts(*store);
    ASSERT_EQ(rows.size(), 1U);
    EXPECT_EQ(rows[0].first, "");
    History history(store);
    EXPECT_EQ(history.plan(0).tensors[2].backend, 1);
    const ReplayResult again = replay(*store);
    EXPECT_GT(again.compared, 3);
    EXPECT_EQ(again.identical, again.compared);
}

/// Not every build lets it be seen whether the program forbade that weights are offloaded: what was decided shows it.
TEST(Foreign, WhetherOperatorsWereOffloadedIsFound) {
    for (const BackendId at : {BackendId{0}, BackendId{1}}) {
        Sketch s{"GPU0", "CPU"};
        s.offers_offload("GPU0", {Op::MUL_MAT});
        s.node("y", Op::MUL_MAT, {s.weight("w", "CPU"), s.input("x")});
        CapabilityTable table;
        fill_table(table, s.session, s, static_cast<int32_t>(s.graph.tensors.size()));
        RealPlan real;
        real.assigned = {{0, 1}, {1, 1}, {2, at}};
        real.splits = {{at, 0, 1, {}}};
        if (at == 0) {
            real.splits[0].inputs = {0, 1};
            real.sources = {{2, 0, {0, 0, 0}}, {2, 1, {1, 0, 0}}};
        }
        ForeignStream stream;
        stream.recorder().session(s.session);
        ForeignStream::Options not_said;
        not_said.op_offload = std::nullopt;
        stream.plan(s.graph.view(), table, real, not_said);
        const std::shared_ptr<LiveStore> store = stream.imported();
        const std::vector<VerdictRow> rows = verdicts(*store);
        ASSERT_EQ(rows.size(), 1U);
        EXPECT_EQ(rows[0].first, "");
        const ReplayResult again = replay(*store);
        EXPECT_GT(again.compared, 3);
        EXPECT_EQ(again.identical, again.compared);
    }
}

TEST(Foreign, WithoutAnAnswerThePlanIsNotReproduced) {
    Sketch s{"GPU0", "CPU"};
    s.node("y", Op::MUL_MAT, {s.weight("w", "CPU"), s.input("x")});
    RealPlan real;
    real.assigned = {{0, 1}, {1, 1}, {2, 1}};
    real.splits = {{1, 0, 1, {}}};
    ForeignStream stream;
    stream.recorder().session(s.session);
    stream.plan(s.graph.view(), CapabilityTable(), real, {});
    const std::shared_ptr<LiveStore> store = stream.imported();
    const std::vector<VerdictRow> rows = verdicts(*store);
    ASSERT_EQ(rows.size(), 1U);
    EXPECT_EQ(rows[0].verdict.identical, 0);
    EXPECT_THAT(rows[0].first, StartsWith("no plan: "));
    History history(store);
    EXPECT_EQ(history.plan(0).tensors[2].backend, 1); // as ggml had it
}

} // namespace
} // namespace schedscope::test
