#include "tests/support/paths.h"
#include "tests/support/tables/every_table.h"
#include "tests/support/traces/sample_run.h"
#include "tests/viz/recorded.h"
#include "traces/history/describe.h"
#include "traces/store/live_store.h"
#include "traces/store/reading/reader.h"
#include "viz/query/describer.h"
#include "viz/tables/copies.h"
#include "viz/tables/splits.h"
#include "viz/tables/table_json.h"
#include "viz/tables/text_table.h"
#include "viz/tables/verdicts.h"

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include <set>
#include <sstream>

namespace schedscope {
namespace {

using tables::Cell;
using tables::Column;
using tables::Unit;
using ::testing::HasSubstr;

class EveryTable : public ::testing::Test {
protected:
    template <typename Look> void each(Look&& look) { test::for_each_table(history, state, look); }
    Sketch sketch = llama(4, 3);
    History history{recorded(sketch)};
    const PlanState state = history.plan(0);
};

/// A cell is what its column's unit says, so that a face needs to know the unit alone.
bool fits(const Cell& cell, Unit unit) {
    switch (cell.kind) {
    case Cell::Kind::none:
    case Cell::Kind::unknown:
    case Cell::Kind::open: return true;
    case Cell::Kind::text: return unit == Unit::text || unit == Unit::backend || unit == Unit::range;
    case Cell::Kind::number: return unit >= Unit::number && unit <= Unit::time;
    case Cell::Kind::real: return unit >= Unit::percent;
    case Cell::Kind::flag: return unit == Unit::text;
    case Cell::Kind::list: return unit >= Unit::names && unit <= Unit::reals;
    case Cell::Kind::rows: return unit == Unit::rows;
    }
    return false;
}

TEST_F(EveryTable, SaysOfEachColumnOnceWhatItIs) {
    each([](const tables::Table& table) {
        std::set<std::string_view> keys, titles;
        for (const Column& column : table.columns()) {
            const std::string where = std::string(table.key()) + "." + std::string(column.key) + std::string(column.title);
            EXPECT_TRUE(!column.key.empty() || !column.title.empty()) << where;
            EXPECT_FALSE(column.help.empty()) << where;
            EXPECT_TRUE(column.key.empty() || keys.insert(column.key).second) << where;
            EXPECT_TRUE(column.title.empty() || titles.insert(column.title).second) << where;
        }
    });
}

TEST_F(EveryTable, HasCellsThatFitTheirColumns) {
    int n = 0;
    each([&](const tables::Table& table) {
        for (int row = 0; row < table.n_rows(); ++row) {
            for (size_t i = 0; i < table.columns().size(); ++i) {
                EXPECT_TRUE(fits(table.cell(row, i), table.columns()[i].unit))
                    << table.key() << '.' << table.columns()[i].key << table.columns()[i].title;
                ++n;
            }
        }
    });
    EXPECT_GT(n, 1000);
}

TEST_F(EveryTable, ShowsInTextWhatPeopleSeeAndInJsonWhatDataHave) {
    tables::SplitsTable splits(history);
    splits.update(state);
    std::ostringstream text;
    tables::print_table(splits, text);
    EXPECT_THAT(text.str(), HasSubstr("from – to"));
    EXPECT_THAT(text.str(), HasSubstr("copies in  "));
    const nlohmann::json json = tables::json_of(splits);
    ASSERT_EQ(json.size(), state.splits.size());
    for (size_t i = 0; i < json.size(); ++i) {
        EXPECT_EQ(json[i]["index"], i);
        EXPECT_EQ(json[i]["first_node"], state.splits[i].begin.first_node);
        EXPECT_EQ(json[i]["inputs"].size(), state.splits[i].inputs.size());
        EXPECT_FALSE(json[i].contains("from – to"));
    }
}

TEST_F(EveryTable, WritesPlacesOfNodesAsThePicturesDo) {
    PlanState large = state;
    large.splits[0].begin.first_node = 1272;
    large.splits[0].end_node = 2486;
    tables::SplitsTable splits(history);
    splits.update(large);
    std::ostringstream text;
    tables::print_table(splits, text);
    EXPECT_THAT(text.str(), HasSubstr("1,272 – 2,485"));
}

TEST_F(EveryTable, SaysOfTheTextsOfAnInnerRowWhatTheyAre) {
    const auto has_inputs = [](const SplitState& s) { return !s.inputs.empty(); };
    SplitState split = *std::find_if(state.splits.begin(), state.splits.end(), has_inputs);
    const auto first = [&] { return tables::row_text(tables::InputsTable(history, state, split), 0); };
    EXPECT_THAT(first(), ::testing::ContainsRegex("  from [^ ]+  for [^ ]+$"));
    split.inputs[0].from.reset(); // as of a log
    EXPECT_THAT(first(), ::testing::AllOf(::testing::Not(HasSubstr("  from ")), HasSubstr("  for ")));
}

TEST(EvaluationsOfAnotherProgram, TookWhatTheirDevicesAccountFor) {
    History history(std::make_shared<TraceReader>(paths::sample("llama-cpp")));
    const PlanState& state = history.state_at(history.n_steps() - 1);
    tables::EvaluationsTable table(history);
    table.update(state);
    const nlohmann::json rows = tables::json_of(table);
    ASSERT_TRUE(history.evaluation(state.evaluation).begin.reused);
    EXPECT_EQ(rows[state.evaluation]["time_ns"], accounts::time(history, state, accounts::TimeBy::device).extent.time_ns());
}

TEST(Splits, SayWhatSharesAreOf) {
    auto store = std::make_shared<LiveStore>();
    test::SampleRun run(*store, test::session({"Vulkan0", "CPU"}));
    run.evaluate(test::blocks(2, 4, 2));
    History ran(store);
    tables::SplitsTable splits(ran);
    splits.update(ran.plan(0));
    EXPECT_THAT(splits.summary(),
                HasSubstr("shares are of " + text_of(splits.extent().time_ns(), Unit::time) + ", the time of evaluation 0"));
}

/// A copy that a backend made by itself: only when it was handed over is known.
TEST(Transfers, ThatHaveNoTimeAreNotTimed) {
    History history(std::make_shared<TraceReader>(paths::sample("llama-cpp")));
    const PlanState state = history.plan(history.opening());
    const auto queued = std::find_if(state.transfers.begin(), state.transfers.end(),
                                     [](const record::Transfer& t) { return t.async && t.start_ns == t.end_ns; });
    ASSERT_NE(queued, state.transfers.end());
    const auto cell_of = [&](auto table) {
        table.update(state);
        int row = 0;
        while (table.tensor(row) != queued->copy) {
            ++row;
        }
        return table.cell(row, tables::column_of(table, "time_ns"));
    };
    for (const Cell& cell : {cell_of(tables::CopiesTable(history)), cell_of(tables::TimelineTable(history))}) {
        EXPECT_EQ(text_of(cell, Unit::time), "not timed");
        EXPECT_TRUE(tables::json_of(cell).is_null());
    }
    const Step step = history.source().next_of(history.evaluation(state.evaluation).first, fact_bit<record::Transfer>());
    EXPECT_THAT(describe(history, history.record(step)), ::testing::EndsWith(", queued"));
}

/// Where only splits were timed, or nothing, no time of a kernel is made up.
class UntimedKernels : public ::testing::TestWithParam<KernelTimes> {
protected:
    static std::shared_ptr<LiveStore> recorded_at(KernelTimes times) {
        auto store = std::make_shared<LiveStore>();
        test::SampleRun run(*store, test::session({"Vulkan0", "CPU"}));
        run.kernel_times = times;
        run.evaluate(test::blocks(2, 4, 2));
        return store;
    }
    std::set<std::string> times(const tables::Table& table) const {
        std::set<std::string> found;
        for (int row = 0; row < table.n_rows(); ++row) {
            found.insert(text_of(table.cell(row, tables::column_of(table, "time_ns")), tables::Unit::time));
        }
        return found;
    }
    History history{recorded_at(GetParam())};
    const PlanState state = history.plan(0);
};
INSTANTIATE_TEST_SUITE_P(At, UntimedKernels, ::testing::Values(KernelTimes::none, KernelTimes::splits),
                         [](const auto& info) { return std::string(kernel_times_name(info.param)); });

TEST_P(UntimedKernels, AreListedAsNotTimed) {
    tables::TimelineTable kernels(history, tables::TimelineTable::Shows::kernels);
    kernels.update(state);
    EXPECT_EQ(kernels.n_rows(), n_of(history.untimed_kernels(state)));
    EXPECT_GT(kernels.n_rows(), n_of(state.splits));
    EXPECT_THAT(times(kernels), ::testing::ElementsAre("not timed"));
    for (const nlohmann::json& row : tables::json_of(kernels)) {
        for (const char* key : {"start_ns", "end_ns", "time_ns", "share", "device_time"}) {
            EXPECT_TRUE(row[key].is_null()) << key;
        }
        EXPECT_FALSE(row["kernel"].get<std::string>().empty());
    }
    tables::NodesTable nodes(history);
    nodes.update(state, tables::tensors_in_order(*history.graph_of(state), state));
    EXPECT_THAT(times(nodes), ::testing::ElementsAre("-", "not timed"));
}

/// A program that is watched from outside has no kernels of its own in its trace, only splits.
TEST(KernelsOfAnotherProgram, AreUnknownAndItsSplitsAreNamedInstead) {
    History untimed(std::make_shared<TraceReader>(paths::sample("llama-cpp")));
    tables::TimelineTable kernels(untimed, tables::TimelineTable::Shows::kernels);
    kernels.update(untimed.plan(untimed.opening()));
    EXPECT_EQ(kernels.n_rows(), 0);
    EXPECT_TRUE(kernels.empty_is_unknown());
    EXPECT_EQ(kernels.when_empty(), "this program's kernels are not timed one by one, only whole splits: splits on Vulkan0 were "
                                    "not timed: record with --sync, which times them, and see --what splits or --what time");

    auto store = std::make_shared<LiveStore>();
    test::SampleRun run(*store, test::session({"Vulkan0", "CPU"}));
    run.evaluate(test::blocks(2, 4, 2));
    History history(store);
    PlanState timed = history.plan(0);
    timed.executed.clear();
    for (SplitState& split : timed.splits) {
        split.kernels = 0;
    }
    tables::TimelineTable of_splits(history, tables::TimelineTable::Shows::kernels);
    of_splits.update(timed);
    EXPECT_EQ(of_splits.when_empty(),
              "this program's kernels are not timed one by one, only whole splits: see --what splits or --what time");
    timed.splits.clear();
    of_splits.update(timed);
    EXPECT_EQ(of_splits.when_empty(), "nothing of this evaluation has run up to this step");
    EXPECT_FALSE(of_splits.empty_is_unknown());
}

TEST(TimesOfAnotherProgram, AreNoneWhereMemoryWasReserved) {
    History history(std::make_shared<TraceReader>(paths::sample("llama-cpp")));
    ASSERT_EQ(history.evaluation(0).begin.kind, GraphKind::reserve);
    tables::TimeTable times(history, accounts::TimeBy::device);
    times.update(history.plan(0));
    EXPECT_EQ(times.when_empty(), "evaluation 0 does not run: memory was reserved for its graph");
}

TEST(VerdictsOfAnotherProgram, AreMissingWhereItUsesPlansThatWereMadeBefore) {
    const auto why_none = [](const std::shared_ptr<LiveStore>& store) {
        History history(store);
        return tables::VerdictsTable(history).when_empty();
    };
    const auto store = std::make_shared<LiveStore>();
    SessionInfo session = test::session({"Vulkan0", "CPU"});
    session.settings.reset(); // they are another program's
    store->session(session);
    EXPECT_EQ(why_none(store), "no plan was made again: none of the program's plans was seen");
    store->set_evaluation(0);
    store->add(record::EvaluationBegin{});
    store->add(record::EvaluationEnd{});
    EXPECT_EQ(why_none(store), "no plan was made again: none of the program's plans was seen, those that it ran were made before "
                               "it was recorded");
    const auto own = std::make_shared<LiveStore>();
    test::SampleRun(*own, test::session({"Vulkan0", "CPU"})).evaluate(test::blocks(2, 4, 2));
    EXPECT_EQ(why_none(own), "no plan was made again: this trace is none of another program's scheduler");
}

TEST_P(UntimedKernels, AreFoundByTheirNames) {
    query::Describer describer(history);
    query::Facts facts;
    TensorId of_kernel = no_tensor;
    for (const record::Execute& e : history.untimed_kernels(state)) {
        of_kernel = e.last;
    }
    ASSERT_NE(of_kernel, no_tensor);
    describer.tensor(state, of_kernel, facts);
    EXPECT_FALSE(facts.text(query::Field::kernel).empty());
}

TEST_P(UntimedKernels, LeaveTheTimeOfTheirSplitAsOneBar) {
    tables::TimelineTable timeline(history);
    timeline.update(state);
    int n = 0;
    for (int row = 0; row < timeline.n_rows(); ++row) {
        EXPECT_NE(timeline.kind(row), "execute");
        n += timeline.kind(row) == "split_run" ? 1 : 0;
    }
    tables::SplitsTable splits(history);
    splits.update(state);
    const bool timed = GetParam() == KernelTimes::splits;
    EXPECT_EQ(n, timed ? n_of(state.splits) : 0);
    EXPECT_EQ(times(splits).count("not timed"), timed ? 0U : 1U);
}

TEST(Cells, AreWrittenByTheirUnit) {
    EXPECT_EQ(text_of(4096, Unit::bytes), "4.0 KiB");
    EXPECT_EQ(text_of(12'400, Unit::time), "12.4 µs");
    EXPECT_EQ(text_of(48'310, Unit::count), "48,310");
    EXPECT_EQ(text_of(48'310, Unit::number), "48310");
    EXPECT_EQ(text_of(12.34, Unit::percent), "12.3%");
    EXPECT_EQ(text_of(12.36, Unit::percent), "12.4%");
    EXPECT_EQ(text_of(17.25, Unit::percent), "17.2%");
    EXPECT_EQ(text_of(Cell::of_each(Shape{64, 16, 1, 1}), Unit::shape), "[64, 16]");
    EXPECT_EQ(text_of(Cell::of_each(std::vector<std::string>{"a", "b"}), Unit::names), "a + b");
    EXPECT_EQ(text_of(true, Unit::text), "yes");
}

TEST(Cells, TellNothingFromUnknownAndFromWhatIsNotYetThere) {
    EXPECT_EQ(text_of(Cell(), Unit::text), "");
    EXPECT_EQ(text_of(Cell(), Unit::bytes), "-");
    EXPECT_EQ(text_of(Cell::unknown(), Unit::bytes), "?");
    EXPECT_EQ(text_of(Cell::open(), Unit::bytes), "…");
    EXPECT_EQ(text_of(Cell::nothing("views only"), Unit::text), "views only");
    EXPECT_EQ(Cell(std::numeric_limits<double>::quiet_NaN()).kind, Cell::Kind::none);
    for (const Cell& cell : {Cell(), Cell::unknown(), Cell::open(), Cell::nothing("views only")}) {
        EXPECT_TRUE(tables::json_of(cell).is_null());
        EXPECT_FALSE(tables::order_of(cell));
    }
}

} // namespace
} // namespace schedscope
