#include "tests/support/traces/plan_rows.h"
#include "tests/support/traces/sample_run.h"
#include "traces/export/export_jsonl.h"
#include "traces/format/schedscope_stream.h"
#include "traces/format/schema.h"
#include "traces/history/accounts/as_logged.h"
#include "traces/history/accounts/copies.h"
#include "traces/history/accounts/memory.h"
#include "traces/history/accounts/passes.h"
#include "traces/history/accounts/summary.h"
#include "traces/history/accounts/tokens.h"
#include "traces/history/describe.h"
#include "traces/history/words/words.h"
#include "traces/store/live_store.h"
#include "traces/store/reading/copy_records.h"
#include "traces/store/reading/reader.h"
#include "traces/store/sqlite.h"
#include "traces/store/tee.h"
#include "traces/store/writer.h"

#include <array>
#include <gmock/gmock.h>
#include <nlohmann/json.hpp>
#include <sstream>

namespace schedscope {
namespace {

using namespace test;

class Tables : public ::testing::Test {
protected:
    void SetUp() override {
        auto store = std::make_shared<LiveStore>();
        TraceWriter writer(folder.file("t"));
        TeeRecorder tee{store.get(), &writer};
        SampleRun run(tee, session({"Vulkan0", "CPU"}));
        run.evaluate(blocks(4, 8, 2));
        run.evaluate_again();
        run.evaluate(blocks(5, 1, 2), GraphKind::decode);
        writer.close();
        history.emplace(store);
        state = history->plan(0);
        n_tensors = history->graph_of(state)->tensors.size();
    }
    int64_t count(const std::string& sql) {
        sqlite::Database database(folder.file("t"), sqlite::Database::Mode::read);
        sqlite::Statement statement(database, sql);
        return statement.step() ? statement.integer(0) : -1;
    }
    Folder folder;
    std::optional<History> history;
    PlanState state;
    size_t n_tensors = 0;
};

TEST_F(Tables, APlanWhoseEndIsNotRecordedIsUnfinished) {
    EXPECT_FALSE(accounts::summary(*history).unfinished);
    const auto rows = accounts::passes(*history, 0);
    const auto cut_at = [&](Step end) {
        auto cut = std::make_shared<LiveStore>();
        copy_records(history->source(), end, *cut, [] { return true; });
        History part(cut);
        const accounts::Summary s = accounts::summary(part);
        EXPECT_TRUE(s.last_is_unfinished);
        return s.unfinished.value_or(accounts::UnfinishedPlan());
    };
    const accounts::UnfinishedPlan after = cut_at(rows[0].end + 1), within = cut_at(rows[0].end);
    EXPECT_EQ(after.pass, Pass::place);
    EXPECT_TRUE(after.over);
    EXPECT_EQ(within.pass, Pass::place);
    EXPECT_FALSE(within.over);
    const Step plan = history->source().next_of(-1, fact_bit<record::PlanBegin>());
    EXPECT_EQ(cut_at(plan + 1).pass, Pass::none);
}

TEST_F(Tables, PassesCountWhatIsAssignedAfterThem) {
    const auto rows = accounts::passes(*history, 0);
    ASSERT_EQ(rows.size(), 11U);
    EXPECT_EQ(rows[0].pass, Pass::place);
    for (size_t i = 0; i < rows.size(); ++i) {
        EXPECT_EQ(static_cast<size_t>(rows[i].assigned + rows[i].unassigned), n_tensors);
        EXPECT_TRUE(rows[i].time_ns.has_value());
        if (i > 0) {
            EXPECT_GE(rows[i].assigned, rows[i - 1].assigned);
        }
    }
    EXPECT_EQ(rows[6].pass, Pass::sources);
    EXPECT_EQ(rows[6].unassigned, 0);
    EXPECT_GT(rows[0].changed, 0);
    const Step planned = accounts::end_of_pass(*history, 0, Pass::split);
    const auto n_copies = std::ssize(history->state_at(planned).copies);
    EXPECT_GT(n_copies, 0);
    for (const accounts::PassRow& row : rows) {
        EXPECT_EQ(row.copies, row.pass == Pass::split ? n_copies : 0) << pass_name(row.pass);
        EXPECT_LE(row.copies, row.changed);
    }
}

TEST_F(Tables, TheEndOfAPassIsItsLastStep) {
    for (const auto& row : accounts::passes(*history, 0)) {
        const Step step = accounts::end_of_pass(*history, 0, row.pass);
        ASSERT_NE(step, no_step);
        const Record end = history->record(step);
        EXPECT_EQ(std::get<record::PassEnd>(end.fact).pass, row.pass);
    }
}

TEST_F(Tables, TheEndOfAPassIsThatOfTheEvaluationElseOfThePlanThatItRuns) {
    ASSERT_EQ(history->evaluation(1).begin.planned_in, 0);
    for (const Pass pass : {Pass::place, Pass::split, Pass::allocate}) {
        EXPECT_EQ(accounts::end_of_pass(*history, 1, pass),
                  accounts::end_of_pass(*history, 0, pass)); // evaluation 1 planned nothing
    }
    const Step executed = accounts::end_of_pass(*history, 1, Pass::execute);
    EXPECT_GT(executed, accounts::end_of_pass(*history, 0, Pass::execute));
    EXPECT_EQ(history->evaluation_of(executed), 1);
}

TEST_F(Tables, AssignmentsAreThoseOfTheStateWithTheCopiesBehind) {
    const auto rows = test::assignment_rows(*history, state);
    ASSERT_EQ(rows.size(), n_tensors + state.copies.size());
    for (size_t i = 0; i < n_tensors; ++i) {
        EXPECT_EQ(rows[i].id, static_cast<TensorId>(i));
        EXPECT_EQ(rows[i].backend, state.tensors[i].backend);
        EXPECT_NE(rows[i].cause, "");
    }
    EXPECT_EQ(rows.back().cause, "4.cpy");
    EXPECT_EQ(rows.back().op, "NONE");
}

TEST_F(Tables, SplitsCoverAllNodesAndListTheirInputs) {
    const auto rows = test::split_rows(*history, state);
    int32_t next = 0;
    for (const auto& row : rows) {
        EXPECT_EQ(row.first_node, next);
        next = row.last_node + 1;
        EXPECT_TRUE(row.time_ns.has_value());
    }
    EXPECT_EQ(static_cast<size_t>(next), history->graph_of(state)->nodes.size());
    EXPECT_EQ(rows[0].why, SplitReason::first);
    EXPECT_EQ(rows[1].inputs[0].from, 1);
    const PlanState planning = history->state_at(accounts::end_of_pass(*history, 0, Pass::split));
    EXPECT_FALSE(test::split_rows(*history, planning)[0].time_ns.has_value()); // not run yet
}

/// A program may have several contexts, each with a scheduler and buffers of its own.
TEST(ComputeBuffers, AreThoseOfTheSchedulerThatPlanned) {
    const auto store = std::make_shared<LiveStore>();
    SampleRun run(*store, session({"Vulkan0", "CPU"}));
    const auto evaluate = [&](EvaluationId id, OwnedGraph graph, int32_t scheduler) {
        run.evaluate(std::move(graph));
        store->set_evaluation(id);
        store->add(record::PlanBackend{scheduler, 0, 0, 0});
    };
    evaluate(0, blocks(4, 8, 2), 0);
    evaluate(1, blocks(1, 1, 2), 1); // a smaller one: nothing grew
    store->add(record::BufferSize{0, 0, 512, 0});
    evaluate(2, blocks(1, 1, 2), 0);
    History history(store);
    const auto sizes = [&](EvaluationId id) {
        std::vector<int64_t> all;
        for (const record::BufferSize& buffer : accounts::compute_buffers(history, history.plan(id))) {
            all.push_back(buffer.size);
        }
        return all;
    };
    EXPECT_THAT(sizes(1), ::testing::ElementsAre(512));
    EXPECT_FALSE(sizes(0).empty());
    EXPECT_EQ(sizes(2), sizes(0));
}

TEST_F(Tables, EachCopyNamesItsSplitAndTime) {
    const auto rows = accounts::copies(*history, state);
    ASSERT_EQ(rows.size(), state.copies.size());
    for (const auto& row : rows) {
        ASSERT_TRUE(row.split.has_value());
        const auto& inputs = state.splits[static_cast<size_t>(*row.split)].inputs;
        EXPECT_TRUE(std::any_of(inputs.begin(), inputs.end(),
                                [&](const record::SplitInput& i) { return i.tensor == row.of && i.bytes == row.size.known(); }));
        EXPECT_NE(row.from, row.to);
        EXPECT_EQ(row.time_ns, 50);
        EXPECT_FALSE(row.experts.has_value());
    }
}

TEST_F(Tables, FusionNamesNodesAndReordersAreWholeSplits) {
    const auto table = test::fusion_rows(*history, state);
    ASSERT_FALSE(table.fusion.empty());
    EXPECT_EQ(table.fusion[0].kernel, "rms_norm_mul");
    EXPECT_THAT(table.fusion[0].nodes, ::testing::ElementsAre("norm-0", "attn_norm-0"));
    ASSERT_FALSE(table.reorders.empty());
    const auto& split = state.splits[static_cast<size_t>(table.reorders[0].split)];
    std::vector<int32_t> all;
    for (int32_t i = *split.begin.first_node; i < split.end_node; ++i) {
        all.push_back(i);
    }
    EXPECT_NE(table.reorders[0].order, all);
    EXPECT_THAT(table.reorders[0].order, ::testing::UnorderedElementsAreArray(all));
}

TEST_F(Tables, MemoryKeepsTheSizesOfBuffersThatDidNotGrow) {
    const auto first = accounts::memory(*history, state);
    ASSERT_EQ(first.memory.size(), 2U);
    for (const auto& row : first.memory) {
        EXPECT_GT(row.peak, 0);
        EXPECT_GE(row.size.bytes, row.peak);
        EXPECT_FALSE(row.replan.has_value()); // the first time
    }
    const auto later = accounts::memory(*history, history->plan(2));
    ASSERT_EQ(later.memory.size(), 2U);
    EXPECT_EQ(later.memory[0].replan, "backend ids changed");
    EXPECT_EQ(later.memory[0].size, first.memory[0].size); // one token needs less than eight
    EXPECT_LT(later.memory[0].peak, first.memory[0].peak);
}

/// Whoever joins a program sees what its plans need, and not how large the buffers are that it made before.
TEST(OlderBuffers, AreAtLeastAsLargeAsIsRecorded) {
    SessionInfo joined = session({"Vulkan0", "CPU"});
    joined.facts.push_back({SSCP_FACT_OLDER_BUFFERS, "made before"});
    auto store = std::make_shared<LiveStore>();
    SampleRun(*store, joined).evaluate(blocks(4, 8, 2));
    History history(store);
    const accounts::MemoryAccount account = accounts::memory(history, history.plan(0));
    ASSERT_EQ(account.memory.size(), 2U);
    for (const accounts::MemoryRow& row : account.memory) {
        EXPECT_THAT(words::bytes(row.size), ::testing::StartsWith("at least ")) << row.buffer_type;
        EXPECT_GT(row.peak, 0);
    }
    EXPECT_EQ(accounts::summary(history).compute.known(), std::nullopt);
    EXPECT_GT(accounts::summary(history).compute.bytes, 0);
}

/// A context that the program made after it was joined has buffers whose sizes were seen.
TEST(OlderBuffers, AreThoseOfTheSchedulersThatWereThere) {
    SessionInfo joined = session({"Vulkan0", "CPU"});
    joined.facts.push_back({SSCP_FACT_OLDER_BUFFERS ".0", "made before"});
    const auto store = std::make_shared<LiveStore>();
    SampleRun run(*store, joined);
    const std::array<int32_t, 2> schedulers{0, 1};
    for (const int32_t scheduler : schedulers) {
        run.evaluate(blocks(4, 8, 2));
        store->set_evaluation(scheduler);
        store->add(record::PlanBackend{scheduler, 0, 0, 0});
        store->add(record::BufferSize{0, 0, 512, 0});
    }
    History history(store);
    for (const int32_t scheduler : schedulers) {
        const accounts::MemoryAccount account = accounts::memory(history, history.plan(scheduler));
        ASSERT_FALSE(account.memory.empty());
        EXPECT_EQ(account.memory[0].size.complete, scheduler == 1);
        const Step size = history.source().previous_of(history.evaluation(scheduler).end, fact_bit<record::BufferSize>());
        EXPECT_THAT(describe(history, history.record(size)),
                    ::testing::HasSubstr(scheduler == 1 ? ": 512 B" : ": at least 512 B"));
    }
}

TEST(ResidentMemory, IsWhatAGraphReadsByKindAndPlace) {
    OwnedGraph graph;
    const auto leaf = [&](std::string_view name, BufferTypeId type, BufferUsage usage, Role role, int64_t floats) {
        TensorInfo t;
        t.name = graph.keep(name);
        t.type = Type::F32;
        t.ne = Shape{floats, 1, 1, 1};
        t.nb = contiguous_strides(Type::F32, *t.ne);
        t.buffer_type = type;
        t.usage = usage;
        t.role = role;
        graph.leafs.push_back(n_of(graph.tensors));
        graph.tensors.push_back(t);
    };
    leaf("a", 1, BufferUsage::weights, Role::none, 4);
    leaf("cache_k_l0", 0, BufferUsage::any, Role::none, 2); // as llama.cpp names it
    leaf("b", 0, BufferUsage::weights, Role::none, 8);
    leaf("c", 0, BufferUsage::weights, Role::cache, 1); // a weight, whatever reads it
    leaf("kept", 0, BufferUsage::any, Role::cache, 5);
    leaf("in", 0, BufferUsage::any, Role::none, 1);
    leaf("beside", no_buffer_type, BufferUsage::any, Role::none, 100); // in a compute buffer
    std::vector<std::tuple<std::string_view, BufferTypeId, int64_t>> rows;
    for (const accounts::ResidentRow& row : accounts::resident_memory(graph)) {
        EXPECT_TRUE(row.size.complete);
        rows.emplace_back(row.what, row.buffer_type, row.size.bytes);
    }
    using Row = std::tuple<std::string_view, BufferTypeId, int64_t>;
    EXPECT_THAT(
        rows, ::testing::ElementsAre(Row{"weights", 0, 36}, Row{"KV cache", 0, 28}, Row{"inputs", 0, 4}, Row{"weights", 1, 16}));
}

TEST_F(Tables, TokensListTheirSamplersAndWhereTheyRan) {
    const auto rows = accounts::tokens(*history);
    ASSERT_EQ(rows.size(), 3U);
    EXPECT_EQ(rows[1].eval, 1);
    EXPECT_EQ(rows[1].id, 403);
    EXPECT_EQ(rows[1].text, " secret");
    EXPECT_THAT(rows[1].samplers(), ::testing::ElementsAre("+top_k", "dist"));
    EXPECT_EQ(rows[1].host_bytes, 160);
}

TEST_F(Tables, ReuseNamesTheCheckThatFailed) {
    const auto rows = test::reuse_rows(*history);
    ASSERT_EQ(rows.size(), 3U);
    EXPECT_FALSE(rows[0].reused || rows[0].failed.has_value());
    EXPECT_TRUE(rows[1].reused);
    EXPECT_EQ(rows[2].failed, "n_tokens");
}

TEST_F(Tables, TheSummaryCounts) {
    const auto s = accounts::summary(*history);
    EXPECT_EQ(s.steps, history->n_steps());
    EXPECT_EQ(s.evaluations, 3);
    EXPECT_EQ(s.plans, 2);
    EXPECT_EQ(s.tokens, 3);
    EXPECT_EQ(s.failed, 0);
    EXPECT_EQ(s.last_planned, 2);
    EXPECT_EQ(s.evaluation, 0); // the prompt
    int32_t nodes = 0;
    for (const auto& o : s.operators) {
        nodes += o.nodes;
    }
    EXPECT_EQ(nodes, s.nodes);
    EXPECT_TRUE(s.tokens);
    EXPECT_GT(s.time_ns().value_or(0), 0);
    EXPECT_GT(s.compute.known().value_or(0), 0);
    EXPECT_GT(s.to_copy.bytes, 0);
    EXPECT_TRUE(s.to_copy.complete);
}

TEST_F(Tables, KernelsAreWhatRanInTheEvaluation) {
    const auto rows = test::kernel_rows(*history, state);
    EXPECT_EQ(rows.size(), state.executed.size());
    EXPECT_EQ(rows[0].node, "inp_embd");
    EXPECT_EQ(rows[0].kernel, "GET_ROWS");
    EXPECT_EQ(rows[0].end_ns - rows[0].start_ns, 100);
}

TEST_F(Tables, EveryRecordIsALineOfJson) {
    std::ostringstream out;
    export_jsonl(history->source(), out);
    std::istringstream lines(out.str());
    std::string line;
    Step step = 0;
    bool assigned = false;
    while (std::getline(lines, line)) {
        const auto object = nlohmann::json::parse(line);
        ASSERT_EQ(object.at("step"), step++);
        if (object.at("kind") == "assign" && object.at("cause") == "1.wgt0") {
            assigned = true;
            EXPECT_EQ(object.at("pass"), "1");
            EXPECT_TRUE(object.at("before").is_null());
            EXPECT_TRUE(object.at("tensor_name").is_string());
        }
    }
    EXPECT_EQ(step, history->n_steps());
    EXPECT_TRUE(assigned);
}

TEST_F(Tables, TheViewsOfTheFileSayTheSame) {
    for (const schema::Entity& view : schema::views()) {
        const bool of_verifications = view.name == "differences"; // differences_test.cpp
        EXPECT_EQ(count("SELECT count(*) FROM " + view.name) == 0, of_verifications) << view.name;
    }
    EXPECT_EQ(count("SELECT count(*) FROM evaluations WHERE planned_in = 0"), 2);
    EXPECT_EQ(static_cast<size_t>(count("SELECT count(*) FROM splits WHERE evaluation = 0")), state.splits.size());
    EXPECT_EQ(count("SELECT count(*) FROM splits s WHERE evaluation = 0 AND n_inputs != (SELECT count(*) FROM split_input i "
                    "WHERE i.evaluation = 0 AND "
                    "i.split = s.idx)"),
              0);
    EXPECT_EQ(
        static_cast<size_t>(count("SELECT count(*) FROM timeline WHERE evaluation = 1 AND what = 'kernel' AND name IS NOT NULL")),
        history->plan(1).executed.size());
    EXPECT_EQ(count("SELECT count(*) FROM why WHERE name IS NULL"), 0);
    EXPECT_GT(count("SELECT count(*) FROM why WHERE cause = '1.wgt0' AND by_name LIKE 'blk.%' AND backend = 'Vulkan0'"), 0);
    EXPECT_GT(count("SELECT count(*) FROM copies WHERE source_backend = 'CPU' AND backend = 'Vulkan0'"), 0);
    const CapabilityTable& answers = history->source().answers(0);
    int64_t no = 0, offload = 0;
    for (size_t i = 0; i < answers.op_answers.size(); ++i) {
        no += answers.op_answers[i].yes ? 0 : 1;
        offload += answers.offload_answers[i];
    }
    EXPECT_EQ(
        count("SELECT count(*) FROM capabilities WHERE graph = 0 AND NOT yes AND reason = 'op' AND detail = 'no kernel sorts'"),
        no);
    EXPECT_EQ(count("SELECT sum(offload) FROM capabilities WHERE graph = 0"), offload);
    EXPECT_EQ(count("SELECT sum(total_ns) FROM kernel_time"), count("SELECT sum(end_ns - start_ns) FROM execute"));
}

TEST(Words, NumbersAreWrittenAsPeopleReadThem) {
    EXPECT_EQ(words::bytes(10), "10 B");
    EXPECT_EQ(words::bytes(4096), "4.0 KiB");
    EXPECT_EQ(words::bytes(132 << 20), "132 MiB");
    EXPECT_EQ(words::bytes((1 << 20) - 1), "1.0 MiB");
    EXPECT_EQ(words::duration(810), "810 ns");
    EXPECT_EQ(words::duration(12400), "12.4 µs");
    EXPECT_EQ(words::duration(1240000), "1.24 ms");
    EXPECT_EQ(words::duration(3050000000), "3.05 s");
    EXPECT_EQ(words::count(48310), "48,310");
    EXPECT_EQ(words::count(-1000), "-1,000");
    EXPECT_EQ(words::counted(1, "split"), "1 split");
    EXPECT_EQ(words::counted(2, "copy"), "2 copies");
    EXPECT_EQ(words::counted(0, "key"), "0 keys");
}

/// ggml prints whole KiB below a MiB, and whole MiB from there on.
TEST(Accounts, ASizeIsLoggedInWholeKibibytesOrMebibytes) {
    constexpr int64_t kibi = 1024, mebi = kibi * kibi;
    EXPECT_TRUE(accounts::is_logged_as(kibi - 1, 0));
    EXPECT_FALSE(accounts::is_logged_as(kibi + 1, 0));
    EXPECT_TRUE(accounts::is_logged_as(mebi - 1, mebi - kibi));
    EXPECT_TRUE(accounts::is_logged_as(2 * mebi - 1, mebi));
    EXPECT_FALSE(accounts::is_logged_as(2 * mebi - kibi, 2 * mebi - kibi));
    EXPECT_TRUE(accounts::is_logged_as(5, std::nullopt));
}

} // namespace
} // namespace schedscope
