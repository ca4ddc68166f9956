#include "tests/support/traces/records_of_each_kind.h"
#include "tests/support/traces/sample_run.h"
#include "traces/format/fields.h"
#include "traces/store/live_store.h"
#include "traces/store/reading/copy_records.h"
#include "traces/store/reading/reader.h"
#include "traces/store/tee.h"
#include "traces/store/writer.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <gtest/gtest.h>

namespace schedscope {
namespace {

using namespace test;

std::vector<Record> records_of(const RecordSource& source) {
    std::vector<Record> records;
    source.read(0, source.n_steps(), records);
    return records;
}

void expect_same_records(const RecordSource& a, const RecordSource& b) {
    ASSERT_EQ(a.n_steps(), b.n_steps());
    const std::vector<Record> ra = records_of(a), rb = records_of(b);
    ASSERT_EQ(ra.size(), static_cast<size_t>(a.n_steps()));
    ASSERT_EQ(rb.size(), ra.size());
    for (size_t i = 0; i < ra.size(); ++i) {
        ASSERT_TRUE(same(
            ra[i], rb[i], [&](StringId id) { return a.text(id); }, [&](StringId id) { return b.text(id); }))
            << "record " << i << " (" << fact_name(ra[i].fact) << ")";
    }
}

void expect_same_graphs(const RecordSource& a, const RecordSource& b) {
    ASSERT_EQ(a.n_graphs(), b.n_graphs());
    for (GraphId g = 0; g < a.n_graphs(); ++g) {
        const OwnedGraph &x = a.graph(g), &y = b.graph(g);
        EXPECT_EQ(x.leafs, y.leafs);
        EXPECT_EQ(x.nodes, y.nodes);
        ASSERT_EQ(x.tensors.size(), y.tensors.size());
        for (size_t t = 0; t < x.tensors.size(); ++t) {
            const TensorInfo &p = x.tensors[t], &q = y.tensors[t];
            EXPECT_TRUE(p.op == q.op && p.type == q.type && p.flags == q.flags && p.usage == q.usage &&
                        p.buffer_type == q.buffer_type && p.user_backend == q.user_backend && p.view_source == q.view_source &&
                        p.src == q.src && p.ne == q.ne && p.nb == q.nb && p.view_offset == q.view_offset &&
                        p.params == q.params && p.name == q.name)
                << "tensor " << t << " of graph " << g;
        }
        const CapabilityTable &s = a.answers(g), &u = b.answers(g);
        ASSERT_EQ(s.n_tensors, u.n_tensors);
        EXPECT_EQ(s.offload_answers, u.offload_answers);
        ASSERT_EQ(s.op_answers.size(), u.op_answers.size());
        for (size_t i = 0; i < s.op_answers.size(); ++i) {
            EXPECT_TRUE(s.op_answers[i].yes == u.op_answers[i].yes && s.op_answers[i].reason == u.op_answers[i].reason &&
                        s.op_answers[i].detail == u.op_answers[i].detail);
        }
    }
}

void expect_same_evaluations(const RecordSource& a, const RecordSource& b) {
    ASSERT_EQ(a.n_evaluations(), b.n_evaluations());
    for (EvaluationId e = 0; e < a.n_evaluations(); ++e) {
        const EvaluationSpan x = a.evaluation(e), y = b.evaluation(e);
        EXPECT_EQ(x.first, y.first);
        EXPECT_EQ(x.end, y.end);
        EXPECT_EQ(x.complete, y.complete);
        EXPECT_EQ(x.begin.planned_in, y.begin.planned_in);
        EXPECT_EQ(x.begin.reused, y.begin.reused);
        EXPECT_EQ(x.begin.kind, y.begin.kind);
    }
}

TEST(RoundTrip, EveryRecordKindComesBackAsItWasWritten) {
    const Folder folder;
    LiveStore store;
    TraceWriter writer(folder.file("t"));
    TeeRecorder tee{&store, &writer};
    const SessionInfo info = session({"Vulkan0", "CPU"});
    tee.session(info);
    const OwnedGraph graph = blocks(2, 4, 2);
    CapabilityTable table;
    fill_table(table, info, Answers(info, graph), static_cast<int32_t>(graph.tensors.size()));
    tee.graph(0, graph.view(), table);
    EachKind kinds(tee, 7, static_cast<int32_t>(graph.tensors.size()), static_cast<int32_t>(graph.nodes.size()), 2);
    kinds.add(200);
    writer.close();

    const TraceReader reader(folder.file("t"));
    expect_same_records(store, reader);
}

TEST(RoundTrip, ARunComesBackAsItWasRecorded) {
    const Folder folder;
    LiveStore store;
    TraceWriter writer(folder.file("t"));
    TeeRecorder tee{&writer, &store};
    SessionInfo info = session({"Vulkan0", "Vulkan1", "CPU"});
    info.backends[0].keeps_order = true;
    info.backends[1].keeps_order = false;
    SampleRun run(tee, info);
    run.evaluate(blocks(6, 40, 3));
    run.evaluate_again();
    run.evaluate(blocks(5, 1, 3), GraphKind::decode);
    run.evaluate_again();
    run.evaluate_again();
    writer.close();

    const TraceReader reader(folder.file("t"));
    EXPECT_TRUE(reader.notes().empty());
    expect_same_records(store, reader);
    expect_same_graphs(store, reader);
    expect_same_evaluations(store, reader);

    const SessionInfo a = store.session(), b = reader.session();
    ASSERT_EQ(b.backends.size(), 3U);
    for (size_t i = 0; i < 3; ++i) {
        EXPECT_EQ(a.backends[i].name, b.backends[i].name);
        EXPECT_EQ(a.backends[i].memory_bytes, b.backends[i].memory_bytes);
        EXPECT_EQ(a.backends[i].keeps_order, b.backends[i].keeps_order);
        EXPECT_EQ(a.backends[i].default_buffer_type, b.backends[i].default_buffer_type);
        EXPECT_EQ(a.backends[i].supports_buffer_type, b.backends[i].supports_buffer_type);
    }
    EXPECT_EQ(a.facts, b.facts);
    EXPECT_EQ(a.settings, b.settings);
    EXPECT_EQ(a.buffer_types[2].is_host, b.buffer_types[2].is_host);
}

/// A copy in memory and one in a file, of what was recorded with texts in another order than a copy meets them in.
void expect_same_copies(const LiveStore& store) {
    const Folder folder;
    LiveStore copy;
    ASSERT_TRUE(copy_records(store, store.n_steps(), copy, [] { return true; }));
    expect_same_records(store, copy);
    expect_same_graphs(store, copy);
    expect_same_evaluations(store, copy);
    TraceWriter writer(folder.file("copy"));
    LiveStore waits; // takes what the writer adds
    writer.attach_to(waits);
    ASSERT_TRUE(copy_records(store, store.n_steps(), writer, [] { return true; }));
    writer.close();
    const TraceReader reader(folder.file("copy"));
    expect_same_records(store, reader);
    expect_same_graphs(store, reader);
    expect_same_evaluations(store, reader);
    EXPECT_EQ(reader.session().facts, store.session().facts);
    for (Step step = 0; step < store.n_steps(); ++step) {
        std::vector<Record> of_store, of_reader;
        store.read(step, step + 1, of_store);
        reader.read(step, step + 1, of_reader);
        if (const auto* const run = std::get_if<record::SplitRun>(&of_store.front().fact)) {
            const KernelList &a = store.kernels(run->kernels),
                             &b = reader.kernels(std::get<record::SplitRun>(of_reader.front().fact).kernels);
            ASSERT_EQ(a.size(), b.size());
            for (size_t i = 0; i < a.size(); ++i) {
                EXPECT_EQ(store.text(a[i].kernel), reader.text(b[i].kernel));
                EXPECT_EQ(a[i].first, b[i].first);
            }
        }
    }
}

TEST(RoundTrip, ACopyOfEveryRecordKindIsTheSame) {
    LiveStore store;
    for (const char* word : {"one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"}) {
        store.intern(word);
    }
    const SessionInfo info = session({"Vulkan0", "CPU"});
    store.session(info);
    const OwnedGraph graph = blocks(2, 4, 2);
    CapabilityTable table;
    fill_table(table, info, Answers(info, graph), static_cast<int32_t>(graph.tensors.size()));
    store.graph(0, graph.view(), table);
    EachKind kinds(store, 7, static_cast<int32_t>(graph.tensors.size()), static_cast<int32_t>(graph.nodes.size()), 2);
    kinds.add(200);
    expect_same_copies(store);
}

TEST(RoundTrip, ACopyOfARunIsTheSame) {
    LiveStore store;
    store.intern("something that no record says");
    SampleRun run(store, session({"Vulkan0", "Vulkan1", "CPU"}));
    run.evaluate(blocks(6, 40, 3));
    run.evaluate_again();
    run.evaluate(blocks(5, 1, 3), GraphKind::decode);
    run.evaluate_again();
    expect_same_copies(store);
    LiveStore beginning;
    EXPECT_FALSE(copy_records(store, store.n_steps(), beginning, [] { return false; }));
    EXPECT_EQ(beginning.n_steps(), 0);
}

TEST(RoundTrip, CopiesOfPipelineStagesComeBack) {
    const Folder folder;
    LiveStore store;
    TraceWriter writer(folder.file("t"));
    TeeRecorder tee{&store, &writer};
    SampleRun run(tee, session({"Vulkan0", "Vulkan1", "CPU"}), 4);
    for (int i = 0; i < 5; ++i) {
        ASSERT_TRUE(run.evaluate(blocks(4, 8, 3)));
    }
    writer.close();
    const TraceReader reader(folder.file("t"));
    expect_same_records(store, reader);
}

TEST(RoundTrip, NothingButTheTraceIsLeftAfterACleanEnd) {
    const Folder folder;
    TraceWriter writer(folder.file("t"));
    SampleRun run(writer, session({"CPU"}));
    run.evaluate(blocks(2, 2, 1));
    writer.close();
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(folder.path())) {
        names.push_back(entry.path().filename());
    }
    EXPECT_EQ(names, std::vector<std::string>{"t"});
}

TEST(RoundTrip, TextsThatAreNotUtf8AndNumbersThatAreNoNumbersSurvive) {
    const Folder folder;
    TraceWriter writer(folder.file("t"));
    writer.session(session({"CPU"}));
    const std::string broken = "\xE2\x82", with_nul = std::string("a\0b", 3);
    writer.add(record::NextToken{0, 1, 0, writer.intern(broken), 0, 0});
    writer.add(record::NextToken{0, 2, 1, writer.intern(with_nul), 0, 0});
    record::Value value;
    value.min = std::numeric_limits<double>::quiet_NaN();
    value.max = std::numeric_limits<double>::infinity();
    value.norm = 0.1;
    writer.add(value);
    writer.close();
    const TraceReader reader(folder.file("t"));
    const std::vector<Record> records = records_of(reader);
    EXPECT_EQ(reader.text(*std::get<record::NextToken>(records[0].fact).text), broken);
    EXPECT_EQ(reader.text(*std::get<record::NextToken>(records[1].fact).text), with_nul);
    const auto& back = std::get<record::Value>(records[2].fact);
    EXPECT_TRUE(std::isnan(back.min));
    EXPECT_TRUE(std::isinf(back.max));
    EXPECT_EQ(back.norm, 0.1);
}

TEST(RoundTrip, BufferTypesMetLateAreInTheTrace) {
    const Folder folder;
    LiveStore store;
    TraceWriter writer(folder.file("t"));
    TeeRecorder tee{&store, &writer};
    SessionInfo info = session({"Vulkan0", "CPU"});
    tee.session(info);
    info.facts.clear(); // the scheduler doesn't know them
    info.buffer_types.push_back({"Vulkan0_Host", true, 64, -1});
    for (BackendInfo& b : info.backends) {
        b.supports_buffer_type.push_back(1);
    }
    const OwnedGraph graph = blocks(1, 2, 2);
    CapabilityTable table;
    fill_table(table, info, Answers(info, graph), static_cast<int32_t>(graph.tensors.size()));
    tee.graph(0, graph.view(), table);
    writer.close();
    const TraceReader reader(folder.file("t"));
    for (const RecordSource* source : {static_cast<const RecordSource*>(&store), static_cast<const RecordSource*>(&reader)}) {
        const SessionInfo back = source->session();
        ASSERT_EQ(back.buffer_types.size(), 3U);
        EXPECT_EQ(back.buffer_types[2].name, "Vulkan0_Host");
        EXPECT_EQ(back.facts.size(), 3U);
        EXPECT_EQ(back.settings, info.settings);
        EXPECT_EQ(source->answers(0).session->buffer_types.size(), 3U);
    }
}

TEST(RoundTrip, NextAndPreviousOfAKindAgreeWithTheRecords) {
    const Folder folder;
    LiveStore store;
    TraceWriter writer(folder.file("t"));
    TeeRecorder tee{&store, &writer};
    SampleRun run(tee, session({"Vulkan0", "CPU"}));
    run.evaluate(blocks(3, 4, 2));
    run.evaluate_again();
    writer.close();
    const TraceReader reader(folder.file("t"));
    const std::vector<Record> records = records_of(store);
    const auto n = static_cast<Step>(records.size());
    for (const FactSet kinds :
         {fact_bit<record::PassBegin>(), fact_bit<record::Assign>(), fact_set<record::NextToken, record::SplitBegin>(),
          fact_set<record::Execute, record::PlanBegin>(), fact_bit<record::Value>(), every_fact}) {
        const auto count = std::count_if(records.begin(), records.end(),
                                         [&](const Record& record) { return (fact_bit(record.fact) & kinds) != 0; });
        EXPECT_EQ(store.count(kinds), count);
        EXPECT_EQ(reader.count(kinds), count);
        for (Step from = -1; from <= n; ++from) {
            Step next = no_step, previous = no_step;
            for (Step s = from + 1; s < n && next == no_step; ++s) {
                next = (fact_bit(records[static_cast<size_t>(s)].fact) & kinds) != 0 ? s : no_step;
            }
            for (Step s = from - 1; s >= 0 && previous == no_step; --s) {
                previous = (fact_bit(records[static_cast<size_t>(s)].fact) & kinds) != 0 ? s : no_step;
            }
            for (const RecordSource* source :
                 {static_cast<const RecordSource*>(&store), static_cast<const RecordSource*>(&reader)}) {
                ASSERT_EQ(source->next_of(from, kinds), next) << from;
                ASSERT_EQ(source->previous_of(from, kinds), previous) << from;
            }
        }
    }
}

} // namespace
} // namespace schedscope
