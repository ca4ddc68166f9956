// Histories that are longer than what is kept of them: every answer is that of a reader who folds all records from the beginning.
#include "tests/support/traces/sample_run.h"
#include "traces/format/fields.h"
#include "traces/history/fold.h"
#include "traces/history/history.h"
#include "traces/store/live_store.h"
#include "traces/store/reading/reader.h"
#include "traces/store/record_cache.h"
#include "traces/store/tee.h"
#include "traces/store/writer.h"

#include <gmock/gmock.h>

#include <limits>
#include <map>
#include <random>
#include <set>

namespace schedscope {
namespace {

using namespace test;

/// A trace in memory and in a file, of plans that are longer than the chunks that are kept and the spaces between kept states.
class LongHistory : public ::testing::Test {
protected:
    static void SetUpTestSuite() {
        folder_ = new Folder;
        store_ = new std::shared_ptr<LiveStore>(std::make_shared<LiveStore>());
        TraceWriter writer(folder_->file("t"));
        TeeRecorder tee{store_->get(), &writer};
        SampleRun run(tee, session({"Vulkan0", "Vulkan1", "CPU"}));
        for (const int n_blocks : {40, 900, 60}) {
            run.evaluate(blocks(n_blocks, 40, 3));
            for (int i = 0; i < 5; ++i) {
                run.evaluate_again();
            }
        }
        writer.close();
    }
    static void TearDownTestSuite() {
        delete store_;
        delete folder_;
    }
    static const std::shared_ptr<LiveStore>& live() { return *store_; }
    static std::shared_ptr<TraceReader> file() { return std::make_shared<TraceReader>(folder_->file("t")); }

    static Folder* folder_;
    static std::shared_ptr<LiveStore>* store_;
};
Folder* LongHistory::folder_ = nullptr;
std::shared_ptr<LiveStore>* LongHistory::store_ = nullptr;

std::vector<Record> all_records(const RecordSource& source) {
    std::vector<Record> records;
    source.read(0, source.n_steps(), records);
    return records;
}

/// All that a state says, as numbers: words of as many would take most of the tests' time.
using Told = std::vector<int64_t>;
Told told(const PlanState& s) {
    Told all;
    const auto number = [](const auto& value) {
        const auto* told = known(value);
        return told != nullptr ? static_cast<int64_t>(*told) : std::numeric_limits<int64_t>::min();
    };
    const auto say = [&](const auto&... values) { (all.push_back(number(values)), ...); };
    say(s.step, s.evaluation, s.planned_in, s.graph, static_cast<int>(s.pass), s.planned ? 1 : 0);
    all.insert(all.end(), s.error.begin(), s.error.end());
    for (const TensorState& t : s.tensors) {
        say(t.backend, static_cast<int>(*t.cause), t.source, static_cast<int>(t.pass), t.by, t.split, t.changed);
    }
    for (const TensorId id : s.order) {
        say(id);
    }
    for (const SplitState& split : s.splits) {
        say(split.begin.index, split.begin.node, split.end_node, split.inputs.size(), split.start_ns, split.end_ns);
    }
    for (const record::CopyMade& c : s.copies) {
        say(c.copy, c.of);
    }
    for (const record::Placement& p : s.placements) {
        say(p.tensor, p.offset);
    }
    for (const record::Execute& e : s.executed) {
        say(e.first, e.last, e.start_ns);
    }
    for (const record::Transfer& t : s.transfers) {
        say(t.copy, t.start_ns);
    }
    say(s.rewires.size(), s.graph_inputs.size(), s.fusions.size(), s.not_fused.size(), s.reorders.size(), s.reallocations.size(),
        s.waits.size(), s.samples.size(), s.tokens.size(), s.values.size());
    return all;
}

/// The states after these steps, by folding everything from the beginning.
std::map<Step, Told> folded(const RecordSource& source, const std::set<Step>& steps) {
    std::map<EvaluationId, PlanState> ends;
    std::map<Step, Told> found;
    PlanState state;
    EvaluationId evaluation = -1;
    for (const Record& r : all_records(source)) {
        if (r.evaluation != evaluation) {
            if (evaluation >= 0) {
                ends[evaluation] = state;
            }
            evaluation = r.evaluation;
            begin_state(state, evaluation);
        }
        if (adopts_plan(r)) {
            adopt_plan(state, ends.at(std::get<record::EvaluationBegin>(r.fact).planned_in), r);
        } else {
            fold(state, r, source);
        }
        if (steps.contains(r.step)) {
            found[r.step] = told(state);
        }
    }
    return found;
}

/// Anywhere, then some steps on or back from there: as somebody reads a trace.
std::vector<Step> walk(const RecordSource& source, uint32_t seed) {
    std::mt19937 random(seed);
    std::vector<Step> steps;
    for (int jump = 0; jump < 25; ++jump) {
        auto at = static_cast<Step>(random() % static_cast<uint64_t>(source.n_steps()));
        const Step by = jump % 3 == 0 ? 1 : jump % 3 == 1 ? -1 : -700;
        for (int i = 0; i < 6 && at >= 0 && at < source.n_steps(); ++i, at += by) {
            steps.push_back(at);
        }
    }
    return steps;
}

TEST_F(LongHistory, IsLongerThanWhatIsKeptOfIt) {
    const EvaluationSpan longest = live()->evaluation(6);
    EXPECT_GT(longest.end - longest.first, 3 * 16384);
    EXPECT_EQ(file()->n_steps(), live()->n_steps());
}

TEST_F(LongHistory, StatesAreThoseOfFoldingEverything) {
    for (const uint32_t seed : {1U, 2U}) {
        const std::vector<Step> steps = walk(*live(), seed);
        const auto expected = folded(*live(), {steps.begin(), steps.end()});
        for (const std::shared_ptr<const RecordSource>& source :
             {std::shared_ptr<const RecordSource>(live()), std::shared_ptr<const RecordSource>(file())}) {
            History history(source);
            for (const Step step : steps) {
                ASSERT_EQ(told(history.state_at(step)), expected.at(step)) << "step " << step;
            }
        }
    }
}

TEST_F(LongHistory, AskingForPlansLeavesTheStateAlone) {
    History history(file());
    const Step step = history.evaluation(6).end - 20'000;
    const PlanState& state = history.state_at(step);
    const Told before = told(state);
    for (EvaluationId e = history.n_evaluations() - 1; e >= 0; --e) {
        history.plan(e);
        history.plan_run_by(e);
    }
    EXPECT_EQ(told(state), before);
}

TEST_F(LongHistory, APlanIsTheStateAtTheEnd) {
    std::set<Step> ends;
    for (EvaluationId e = 0; e < live()->n_evaluations(); ++e) {
        ends.insert(live()->evaluation(e).end - 1);
    }
    const auto expected = folded(*live(), ends);
    History history(file());
    for (const EvaluationId e : {17, 3, 6, 6, 7, 0, 12, 11}) {
        EXPECT_EQ(told(history.plan(e)), expected.at(history.evaluation(e).end - 1)) << e;
        const EvaluationId planned = history.evaluation(e).begin.planned_in;
        EXPECT_EQ(told(history.plan_run_by(e)), expected.at(history.evaluation(planned).end - 1)) << e;
    }
}

TEST_F(LongHistory, WantedRecordsAreThoseAmongAll) {
    const std::vector<Record> all = all_records(*live());
    std::mt19937 random(5);
    for (const std::shared_ptr<const RecordSource>& source :
         {std::shared_ptr<const RecordSource>(live()), std::shared_ptr<const RecordSource>(file())}) {
        for (int i = 0; i < 20; ++i) {
            const FactSet kinds = (random() | FactSet{random()} << 32) & every_fact;
            const auto first = static_cast<Step>(random() % all.size());
            const Step end = std::min<Step>(first + static_cast<Step>(random() % 9000), static_cast<Step>(all.size()));
            std::vector<Step> expected, whole, names;
            for (Step s = first; s < end; ++s) {
                if ((fact_bit(all[static_cast<size_t>(s)].fact) & kinds) != 0) {
                    expected.push_back(s);
                }
            }
            std::vector<Record> records;
            source->read_wanted(first, end, {kinds}, records);
            for (const Record& r : records) {
                whole.push_back(r.step);
                EXPECT_EQ(r.evaluation, all[static_cast<size_t>(r.step)].evaluation);
                EXPECT_EQ(r.time_ns, all[static_cast<size_t>(r.step)].time_ns);
            }
            EXPECT_EQ(whole, expected);
            records.clear();
            source->read_wanted(first, end, {kinds, true}, records);
            for (const Record& r : records) {
                names.push_back(r.step);
                const Fact& fact = all[static_cast<size_t>(r.step)].fact;
                EXPECT_EQ(r.fact.index(), fact.index());
                EXPECT_EQ(subject(r.fact), subject(fact));
            }
            EXPECT_EQ(names, expected);
        }
    }
}

/// Those that a record speaks of; `before`: the state before it, for what it names by place.
std::set<TensorId> spoken_of(const Fact& fact, const PlanState& before) {
    std::set<TensorId> ids{subject(fact)};
    const auto add_run = [&](auto first, int32_t count) {
        for (int32_t i = 0; i < count && first != before.order.end(); ++i, ++first) {
            ids.insert(*first);
        }
    };
    if (const auto* f = std::get_if<record::SplitBegin>(&fact)) {
        ids.insert(*f->by);
    } else if (const auto* f = std::get_if<record::SplitInput>(&fact)) {
        ids.insert({f->tensor, *f->node});
    } else if (const auto* f = std::get_if<record::CopyMade>(&fact)) {
        ids.insert(f->of);
    } else if (const auto* f = std::get_if<record::Rewired>(&fact)) {
        ids.insert({f->node, f->original, f->copy});
    } else if (const auto* f = std::get_if<record::NotFused>(&fact)) {
        ids.insert(f->second);
    } else if (const auto* f = std::get_if<record::Placement>(&fact)) {
        ids.insert(f->in_place_of);
    } else if (const auto* f = std::get_if<record::Transfer>(&fact)) {
        ids.insert({f->tensor, f->copy});
    } else if (const auto* f = std::get_if<record::Fusion>(&fact)) {
        add_run(before.order.begin() + f->first, f->count);
    } else if (const auto* f = std::get_if<record::Execute>(&fact)) {
        add_run(std::find(before.order.begin(), before.order.end(), f->first), f->count);
    }
    ids.erase(no_tensor);
    return ids;
}

TEST_F(LongHistory, RecordsOfTensorsAreThoseOfLookingAtEachRecord) {
    // By evaluation and tensor; those of the run apart, which a later evaluation does not share.
    constexpr FactSet run =
        fact_set<record::Execute, record::SplitRun, record::Transfer, record::Wait, record::Sample, record::NextToken>();
    std::map<std::pair<EvaluationId, TensorId>, std::vector<Step>> planned, ran;
    History states(live());
    const std::vector<Record> all = all_records(*live());
    for (const Record& r : all) {
        if (r.evaluation >= 6 && r.evaluation < 12) {
            continue; // the longest one: see the next test
        }
        const PlanState* const before = r.step == 0 ? nullptr : &states.state_at(r.step - 1);
        for (const TensorId id : spoken_of(r.fact, before != nullptr ? *before : PlanState())) {
            ((fact_bit(r.fact) & run) != 0 ? ran : planned)[{r.evaluation, id}].push_back(r.step);
        }
    }
    History history(file());
    std::mt19937 random(9);
    for (int i = 0; i < 2000; ++i) {
        const auto choice = static_cast<EvaluationId>(random() % 12);
        const EvaluationId e = choice < 6 ? choice : choice + 6, plan = e < 6 ? 0 : 12;
        const auto n = history.graph_of(history.plan_run_by(e))->tensors.size() + 20;
        const auto id = static_cast<TensorId>(random() % n);
        std::vector<Step> expected = planned[{plan, id}];
        const std::vector<Step>& own = ran[{e, id}];
        expected.insert(expected.end(), own.begin(), own.end());
        std::sort(expected.begin(), expected.end());
        ASSERT_EQ(history.records_of(e, id), expected) << "evaluation " << e << " tensor " << id;
        std::erase_if(expected, [&](Step step) {
            return std::holds_alternative<record::BackendQuery>(all[static_cast<size_t>(step)].fact);
        });
        ASSERT_EQ(history.changes_of(e, id), expected) << "evaluation " << e << " tensor " << id;
    }
}

TEST_F(LongHistory, TheNearestRecordBeforeAStepIsFound) {
    const std::vector<Record> all = all_records(*live());
    constexpr FactSet kinds = fact_set<record::PassBegin, record::SplitBegin, record::NextToken>();
    const auto source = file();
    RecordCache cache(*source, {512, 4}, {kinds});
    std::mt19937 random(13);
    for (int i = 0; i < 200; ++i) {
        const auto step = static_cast<Step>(random() % all.size());
        Step expected = step - 1;
        while (expected >= 0 && (fact_bit(all[static_cast<size_t>(expected)].fact) & kinds) == 0) {
            --expected;
        }
        Step found = no_step;
        cache.backward(step, [&](const Record& record) {
            found = record.step;
            return false;
        });
        ASSERT_EQ(found, expected) << step;
    }
}

} // namespace
} // namespace schedscope
