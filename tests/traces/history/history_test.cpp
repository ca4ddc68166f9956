#include "runtime/error.h"
#include "tests/support/random/random_sketch.h"
#include "tests/support/traces/sample_run.h"
#include "traces/format/fields.h"
#include "traces/history/accounts/passes.h"
#include "traces/history/describe.h"
#include "traces/history/fold.h"
#include "traces/history/history.h"
#include "traces/store/live_store.h"
#include "traces/store/reading/reader.h"
#include "traces/store/tee.h"
#include "traces/store/writer.h"

#include <gmock/gmock.h>
#include <map>
#include <numeric>
#include <random>

namespace schedscope {
namespace {

using namespace test;
using Unit = History::Unit;

bool same_tensor(const TensorState& a, const TensorState& b) {
    return a.backend == b.backend && a.cause == b.cause && a.source == b.source && a.pass == b.pass && a.by == b.by &&
           a.split == b.split && a.changed == b.changed;
}

/// What differs first; empty: nothing.
std::string difference(const PlanState& a, const PlanState& b) {
    if (a.step != b.step || a.evaluation != b.evaluation || a.planned_in != b.planned_in || a.graph != b.graph ||
        a.pass != b.pass || a.planned != b.planned || a.error != b.error) {
        return "heading";
    }
    if (a.tensors.size() != b.tensors.size() || !std::equal(a.tensors.begin(), a.tensors.end(), b.tensors.begin(), same_tensor)) {
        return "tensors";
    }
    if (a.order != b.order) {
        return "order";
    }
    if (a.splits.size() != b.splits.size()) {
        return "splits";
    }
    for (size_t i = 0; i < a.splits.size(); ++i) {
        const SplitState &x = a.splits[i], &y = b.splits[i];
        if (x.begin.index != y.begin.index || x.end_node != y.end_node || x.inputs.size() != y.inputs.size() ||
            x.start_ns != y.start_ns || x.end_ns != y.end_ns) {
            return "split " + std::to_string(i);
        }
    }
    const bool sizes = a.copies.size() == b.copies.size() && a.rewires.size() == b.rewires.size() &&
                       a.graph_inputs.size() == b.graph_inputs.size() && a.fusions.size() == b.fusions.size() &&
                       a.not_fused.size() == b.not_fused.size() && a.reorders.size() == b.reorders.size() &&
                       a.placements.size() == b.placements.size() && a.reallocations.size() == b.reallocations.size() &&
                       a.executed.size() == b.executed.size() && a.transfers.size() == b.transfers.size() &&
                       a.waits.size() == b.waits.size() && a.samples.size() == b.samples.size() &&
                       a.tokens.size() == b.tokens.size();
    return sizes ? "" : "lists";
}

/// States by folding everything from the beginning, with the plans of all evaluations remembered.
class Naive {
public:
    explicit Naive(const RecordSource& source) {
        std::vector<Record> records;
        source.read(0, source.n_steps(), records);
        PlanState state;
        EvaluationId evaluation = -1;
        for (const Record& r : records) {
            if (r.evaluation != evaluation) {
                if (evaluation >= 0) {
                    ends_[evaluation] = state;
                }
                evaluation = r.evaluation;
                begin_state(state, evaluation);
            }
            if (adopts_plan(r)) {
                adopt_plan(state, ends_.at(std::get<record::EvaluationBegin>(r.fact).planned_in), r);
            } else {
                fold(state, r, source);
            }
            states_.push_back(state);
        }
    }
    const PlanState& at(Step step) const { return states_[static_cast<size_t>(step)]; }

private:
    std::map<EvaluationId, PlanState> ends_;
    std::vector<PlanState> states_;
};

std::shared_ptr<LiveStore> recorded(int n_stages = 1) {
    auto store = std::make_shared<LiveStore>();
    SampleRun run(*store, session({"Vulkan0", "Vulkan1", "CPU"}), n_stages);
    run.evaluate(blocks(6, 40, 3));
    run.evaluate_again();
    run.evaluate(blocks(4, 1, 3), GraphKind::decode);
    run.evaluate_again();
    run.evaluate_again();
    run.evaluate(test::random_sketch({3, 40, 4}, run.session()));
    run.evaluate_again();
    return store;
}

TEST(History, ForwardsEveryStateIsThatOfANaiveFold) {
    for (const int n_stages : {1, 4}) {
        const auto store = recorded(n_stages);
        const Naive naive(*store);
        History history(store);
        for (Step s = 0; s < history.n_steps(); ++s) {
            ASSERT_EQ(difference(history.state_at(s), naive.at(s)), "") << "step " << s;
        }
    }
}

TEST(History, BackwardsEveryStateIsThatOfANaiveFold) {
    const auto store = recorded();
    const Naive naive(*store);
    History history(store);
    for (Step s = history.n_steps() - 1; s >= 0; --s) {
        ASSERT_EQ(difference(history.state_at(s), naive.at(s)), "") << "step " << s;
    }
}

TEST(History, JumpingAboutGivesTheSameStates) {
    const auto store = recorded(4);
    const Naive naive(*store);
    History history(store);
    std::mt19937 random(11);
    for (int i = 0; i < 3000; ++i) {
        const auto s = static_cast<Step>(random() % static_cast<uint64_t>(history.n_steps()));
        ASSERT_EQ(difference(history.state_at(s), naive.at(s)), "") << "step " << s;
    }
}

TEST(History, AFileAndTheRunItWasWrittenFromHaveTheSameStates) {
    const Folder folder;
    auto store = std::make_shared<LiveStore>();
    TraceWriter writer(folder.file("t"));
    TeeRecorder tee{store.get(), &writer};
    SampleRun run(tee, session({"Vulkan0", "CPU"}));
    run.evaluate(blocks(4, 40, 2));
    run.evaluate_again();
    writer.close();
    History live(store), file(std::make_shared<TraceReader>(folder.file("t")));
    ASSERT_EQ(live.n_steps(), file.n_steps());
    for (Step s = live.n_steps() - 1; s >= 0; --s) {
        ASSERT_EQ(difference(live.state_at(s), file.state_at(s)), "");
        ASSERT_EQ(describe(live, live.record(s)), describe(file, file.record(s)));
    }
}

TEST(History, FollowsASourceThatGrows) {
    auto store = std::make_shared<LiveStore>();
    History history(store);
    EXPECT_EQ(history.n_steps(), 0);
    EXPECT_EQ(history.last_planned(), -1);
    SampleRun run(*store, session({"Vulkan0", "CPU"}));
    for (int i = 0; i < 4; ++i) {
        if (i % 2 == 0) {
            run.evaluate(blocks(3 + i, 4, 2));
        } else {
            run.evaluate_again();
        }
        const Naive naive(*store);
        const Step last = history.n_steps() - 1;
        ASSERT_EQ(difference(history.state_at(last), naive.at(last)), "");
        ASSERT_EQ(difference(history.state_at(last / 2), naive.at(last / 2)), "");
        EXPECT_EQ(history.evaluation_of(last), i);
        EXPECT_EQ(history.last_planned(), i - i % 2);
        EXPECT_EQ(history.backend_name(0), "Vulkan0");
    }
}

TEST(History, AnEvaluationThatRunsAPlanAgainShowsThePlanAndItsOwnRun) {
    const auto store = recorded();
    History history(store);
    const PlanState first = history.plan(0);
    const PlanState& again = history.plan(1);
    EXPECT_EQ(again.evaluation, 1);
    EXPECT_EQ(again.planned_in, 0);
    EXPECT_TRUE(again.planned);
    EXPECT_EQ(again.splits.size(), first.splits.size());
    EXPECT_EQ(again.executed.size(), first.executed.size());
    ASSERT_FALSE(again.executed.empty());
    EXPECT_GT(again.executed.front().start_ns, first.executed.back().start_ns);
    EXPECT_EQ(again.tokens.size(), 1U);
    const PlanState& begin = history.state_at(history.evaluation(1).first);
    EXPECT_TRUE(begin.executed.empty());
    EXPECT_EQ(begin.splits.front().start_ns, std::nullopt);
}

TEST(History, APlanThatFailedSaysWhy) {
    auto store = std::make_shared<LiveStore>();
    SampleRun run(*store, session({"Vulkan0", "CPU"}));
    OwnedGraph graph = blocks(1, 2, 2);
    graph.tensors[static_cast<size_t>(graph.nodes.front())].buffer_type = 0;  // GET_ROWS is in memory of a backend …
    graph.tensors[static_cast<size_t>(graph.nodes.front())].op = Op::ARGSORT; // … that can't run it
    ASSERT_FALSE(run.evaluate(std::move(graph)));
    History history(store);
    const PlanState& state = history.plan(0);
    EXPECT_FALSE(state.planned);
    EXPECT_THAT(state.error, ::testing::HasSubstr("inp_embd"));
}

TEST(History, ReordersPermuteTheNodes) {
    const auto store = recorded();
    History history(store);
    const PlanState& state = history.plan(0);
    const OwnedGraph* graph = history.graph_of(state);
    ASSERT_FALSE(state.reorders.empty());
    EXPECT_NE(state.order, graph->nodes);
    EXPECT_THAT(state.order, ::testing::UnorderedElementsAreArray(graph->nodes));
}

TEST(History, RecordsOfATensorAreThoseThatSpeakOfIt) {
    const auto store = recorded();
    History history(store);
    const PlanState state = history.plan(1);
    // An input of the second split: it is copied, and its copy is transferred in this evaluation and not in the one that planned.
    const record::SplitInput input = state.splits.at(1).inputs.at(0);
    const std::vector<Step> steps = history.records_of(1, input.tensor);
    EXPECT_TRUE(std::is_sorted(steps.begin(), steps.end()));
    std::map<std::string, int> kinds;
    for (const Step s : steps) {
        const Record r = history.record(s);
        ++kinds[std::string(fact_name(r.fact))];
        if (std::holds_alternative<record::Transfer>(r.fact)) {
            EXPECT_EQ(r.evaluation, 1);
        }
    }
    EXPECT_GE(kinds["assign"], 1);
    EXPECT_GE(kinds["split_input"], 1);
    EXPECT_GE(kinds["copy_made"], 1);
    EXPECT_GE(kinds["rewired"], 1);
    EXPECT_GE(kinds["transfer"], 1);
}

TEST(History, RecordsOfAFusedNodeIncludeItsFusion) {
    const auto store = recorded();
    History history(store);
    const PlanState state = history.plan(0);
    ASSERT_FALSE(state.fusions.empty());
    const record::Fusion fusion = state.fusions.front();
    for (int32_t i = 0; i < fusion.count; ++i) {
        const TensorId node = state.order[static_cast<size_t>(fusion.first + i)];
        const std::vector<Step> steps = history.records_of(0, node);
        EXPECT_TRUE(std::any_of(steps.begin(), steps.end(),
                                [&](Step s) { return std::holds_alternative<record::Fusion>(history.record(s).fact); }));
    }
}

TEST(History, UnitsForwardAndBackwardAreTheSameSteps) {
    const auto store = recorded();
    History history(store);
    for (const Unit unit : {Unit::record, Unit::sweep, Unit::pass, Unit::split, Unit::evaluation, Unit::token}) {
        // What a reader who sees the records one by one finds.
        std::vector<Step> expected;
        for (Step s = 0; s < history.n_steps(); ++s) {
            if (is_moment(unit, history.record(s))) {
                expected.push_back(s);
            }
        }
        std::vector<Step> forward, backward;
        for (Step s = history.next(-1, unit); s != no_step; s = history.next(s, unit)) {
            forward.push_back(s);
        }
        for (Step s = history.previous(history.n_steps(), unit); s != no_step; s = history.previous(s, unit)) {
            backward.push_back(s);
        }
        std::reverse(backward.begin(), backward.end());
        EXPECT_EQ(forward, expected) << static_cast<int>(unit);
        EXPECT_EQ(backward, expected) << static_cast<int>(unit);
        EXPECT_FALSE(expected.empty());
    }
}

TEST(History, UnitsFromTheMiddleOfOneFindTheNext) {
    const auto store = recorded();
    History history(store);
    for (const Unit unit : {Unit::token, Unit::split, Unit::pass}) {
        std::vector<Step> all;
        for (Step s = history.next(-1, unit); s != no_step; s = history.next(s, unit)) {
            all.push_back(s);
        }
        for (Step from = 0; from < history.n_steps(); from += 13) {
            const auto after = std::upper_bound(all.begin(), all.end(), from);
            EXPECT_EQ(history.next(from, unit), after == all.end() ? no_step : *after);
            const auto at = std::lower_bound(all.begin(), all.end(), from);
            EXPECT_EQ(history.previous(from, unit), at == all.begin() ? no_step : *std::prev(at));
        }
    }
}

TEST(History, APassIsOverAtItsEndPass2WithItsLastSweep) {
    const auto store = recorded();
    History history(store);
    std::vector<std::string> passes, sweeps;
    const Step end = history.evaluation(0).end;
    for (Step s = history.next(-1, Unit::pass); s != no_step && s < end; s = history.next(s, Unit::pass)) {
        passes.emplace_back(pass_name(std::get<record::PassEnd>(history.record(s).fact).pass));
    }
    for (Step s = history.next(-1, Unit::sweep); s != no_step && s < end; s = history.next(s, Unit::sweep)) {
        sweeps.emplace_back(pass_name(std::get<record::PassEnd>(history.record(s).fact).pass));
    }
    EXPECT_THAT(passes, ::testing::ElementsAre("1", "2d", "3", "4", "5", "optimise", "allocate", "execute"));
    EXPECT_THAT(sweeps, ::testing::ElementsAre("1", "2a", "2b", "2c", "2d", "3", "4", "5", "optimise", "allocate", "execute"));
}

TEST(History, ASplitIsOverWhenItIsPlannedAndWhenItRan) {
    const auto store = recorded();
    History history(store);
    const auto n_splits = history.plan(0).splits.size();
    std::vector<int32_t> planned, ran;
    const Step end = history.evaluation(0).end;
    for (Step s = history.next(-1, Unit::split); s != no_step && s < end; s = history.next(s, Unit::split)) {
        const Record record = history.record(s);
        const PlanState& state = history.state_at(s);
        if (const auto* f = std::get_if<record::SplitEnd>(&record.fact)) {
            planned.push_back(f->index);
            EXPECT_GT(state.splits.at(static_cast<size_t>(f->index)).end_node, 0);
        } else {
            ran.push_back(std::get<record::SplitRun>(record.fact).split);
            EXPECT_EQ(state.splits.at(static_cast<size_t>(ran.back())).ran, s);
        }
    }
    std::vector<int32_t> each(n_splits);
    std::iota(each.begin(), each.end(), 0);
    EXPECT_EQ(planned, each);
    EXPECT_EQ(ran, each);
}

TEST(History, WhatFailsEndsThePassThatItIsIn) {
    auto store = std::make_shared<LiveStore>();
    SampleRun run(*store, session({"Vulkan0", "CPU"}));
    run.evaluate(blocks(2, 4, 2));
    const EvaluationId failing = 1;
    store->set_evaluation(failing);
    store->add(record::EvaluationBegin{});
    store->add(record::PlanBegin{0, 1, 1, 1, 0, true});
    store->add(record::PassBegin{Pass::place});
    const Step assigned = store->add(record::Assign{Pass::place, Cause::input, -1, no_backend, 1, 0, no_tensor});
    const Step failed = store->add(record::PlanEnd{0, 0, store->intern("nothing runs it")});
    History history(store);
    EXPECT_EQ(history.next(assigned, Unit::pass), failed);
    EXPECT_EQ(accounts::end_of_pass(history, failing, Pass::place), failed);
    EXPECT_EQ(history.state_at(failed).pass, Pass::place);
    const accounts::ChangedTensors changed = accounts::work_of_pass(history, failed).changed;
    EXPECT_EQ(changed.ids(), std::vector<TensorId>{0});
    EXPECT_EQ(changed.before(0), no_backend);
    EXPECT_EQ(changed.before(1), std::nullopt);
}

TEST(History, NamesOfCopiesAreThoseOfTheScheduler) {
    const auto store = recorded();
    History history(store);
    const PlanState& state = history.plan(0);
    ASSERT_FALSE(state.copies.empty());
    const record::CopyMade& copy = state.copies.front();
    EXPECT_EQ(history.tensor_name(state, copy.copy),
              history.backend_name(copy.backend) + "#" + history.tensor_name(state, copy.of) + "#" + std::to_string(*copy.stage));
    EXPECT_EQ(history.tensor(state, copy.copy).name, history.tensor(state, copy.of).name);
    EXPECT_EQ(history.tensor_name_at(history.evaluation(1).end - 1, copy.copy), history.tensor_name(state, copy.copy));
}

TEST(History, StepsAndEvaluationsOutOfRangeAreRefused) {
    const auto store = recorded();
    History history(store);
    for (const Step s : {Step{-1}, history.n_steps()}) {
        EXPECT_THROW(history.state_at(s), Error);
        EXPECT_THROW(history.record(s), Error);
    }
    EXPECT_THROW(history.plan(-1), Error);
    EXPECT_THROW(history.plan(history.n_evaluations()), Error);
    EXPECT_THROW(history.tensor(history.plan(0), 100000), Error);
}

TEST(Describe, SentencesNameWhatTheySpeakOf) {
    const auto store = recorded();
    History history(store);
    std::map<std::string, std::string> first;
    for (Step s = 0; s < history.n_steps(); ++s) {
        const Record r = history.record(s);
        const std::string sentence = describe(history, r);
        EXPECT_FALSE(sentence.empty());
        EXPECT_EQ(sentence.find('\n'), std::string::npos);
        first.emplace(fact_name(r.fact), sentence);
    }
    EXPECT_EQ(first["evaluation_begin"], "evaluation 0 begins: prefill, 40 tokens");
    EXPECT_EQ(first["assign"], "inp_tokens: CPU by 1.inp");
    EXPECT_EQ(first["pass_begin"], "pass 1 (place) begins");
    EXPECT_EQ(first["token"], "sequence 0: token 403 at position 1, \" secret\"");
    EXPECT_THAT(first["split_begin"], ::testing::HasSubstr("split 0 begins on CPU with inp_embd"));
    EXPECT_THAT(first["copy_made"], ::testing::HasSubstr("#0: made to hold "));
}

} // namespace
} // namespace schedscope
