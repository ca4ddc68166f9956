// What a program writes as a stream is what a trace holds that is made of it: every field of every record kind, graphs, answers.

#include "tests/support/random/random_sketch.h"
#include "tests/support/traces/records_of_each_kind.h"
#include "tests/support/traces/sample_run.h"
#include "tests/support/traces/stream_recorder.h"
#include "tests/traces/stream/streamed.h"
#include "traces/store/reading/reader.h"
#include "traces/store/writer.h"

#include <cmath>
#include <gtest/gtest.h>

namespace schedscope::test {
namespace {

/// Writes a whole trace as a stream.
void write_stream(const RecordSource& from, sscp_stream& stream) {
    StreamRecorder to(stream);
    to.session(from.session());
    for (GraphId g = 0; g < from.n_graphs(); ++g) {
        to.graph(g, from.graph(g).view(), from.answers(g));
    }
    std::vector<Record> records;
    from.read(0, from.n_steps(), records);
    for (Record record : records) {
        std::visit(
            [&]<typename T>(T& fact) {
                for_each_field<T>([&](const auto& f) {
                    if constexpr (std::is_same_v<typename std::remove_cvref_t<decltype(f)>::Value, StringId>) {
                        if (const StringId* text = known(fact.*f.member); text != nullptr && f.meaning == Meaning::text) {
                            fact.*f.member = to.intern(from.text(*text));
                        }
                    }
                });
            },
            record.fact);
        if (const auto* run = std::get_if<record::SplitRun>(&record.fact)) {
            constexpr int64_t unknown = SSCP_UNKNOWN_64;
            for (const KernelInfo& k : from.kernels(run->kernels)) { // that were not timed
                const record::Execute kernel{
                    run->split, run->backend, false,   k.count, k.first, k.last, to.intern(from.text(k.kernel)),
                    unknown,    unknown,      k.bytes, k.flops};
                to.keep({record.step, record.time_ns, record.evaluation, kernel});
            }
        }
        to.keep(record);
    }
    to.flush();
    ASSERT_EQ(sscp_close(&stream), 1);
    ASSERT_EQ(stream.dropped, 0U);
}

void expect_same(const RecordSource& a, const RecordSource& b) {
    ASSERT_EQ(a.n_steps(), b.n_steps());
    std::vector<Record> ra, rb;
    a.read(0, a.n_steps(), ra);
    b.read(0, b.n_steps(), rb);
    const auto without_list = [](Record r) { // each numbers lists on its own; what they hold is compared below
        if (auto* run = std::get_if<record::SplitRun>(&r.fact)) {
            run->kernels = run->kernels != 0 ? 1 : 0;
        }
        return r;
    };
    for (size_t i = 0; i < ra.size(); ++i) {
        ASSERT_TRUE(same(
            without_list(ra[i]), without_list(rb[i]), [&](StringId id) { return a.text(id); },
            [&](StringId id) { return b.text(id); }))
            << "record " << i << " (" << fact_name(ra[i].fact) << ")";
        if (const auto* run = std::get_if<record::SplitRun>(&ra[i].fact)) {
            const KernelList &x = a.kernels(run->kernels), &y = b.kernels(std::get<record::SplitRun>(rb[i].fact).kernels);
            ASSERT_EQ(x.size(), y.size());
            for (size_t k = 0; k < x.size(); ++k) {
                EXPECT_EQ(a.text(x[k].kernel), b.text(y[k].kernel));
                EXPECT_TRUE(x[k].first == y[k].first && x[k].last == y[k].last && x[k].bytes == y[k].bytes);
            }
        }
    }
    ASSERT_EQ(a.n_graphs(), b.n_graphs());
    for (GraphId g = 0; g < a.n_graphs(); ++g) {
        const OwnedGraph &x = a.graph(g), &y = b.graph(g);
        EXPECT_EQ(x.leafs, y.leafs);
        EXPECT_EQ(x.nodes, y.nodes);
        ASSERT_EQ(x.tensors.size(), y.tensors.size());
        for (size_t t = 0; t < x.tensors.size(); ++t) {
            const TensorInfo &p = x.tensors[t], &q = y.tensors[t];
            EXPECT_TRUE(p.op == q.op && p.type == q.type && p.flags == q.flags && p.usage == q.usage &&
                        p.buffer_type == q.buffer_type && p.user_backend == q.user_backend && p.role == q.role &&
                        p.layer == q.layer && p.view_source == q.view_source && p.src == q.src && p.ne == q.ne && p.nb == q.nb &&
                        p.view_offset == q.view_offset && p.params == q.params && p.name == q.name && p.foreign == q.foreign)
                << "tensor " << t << " of graph " << g;
        }
        const CapabilityTable &s = a.answers(g), &u = b.answers(g);
        ASSERT_EQ(s.op_answers.size(), u.op_answers.size());
        EXPECT_EQ(s.offload_answers, u.offload_answers);
        for (size_t i = 0; i < s.op_answers.size(); ++i) {
            EXPECT_TRUE(s.op_answers[i].yes == u.op_answers[i].yes && s.op_answers[i].reason == u.op_answers[i].reason &&
                        s.op_answers[i].detail == u.op_answers[i].detail);
        }
    }
    const SessionInfo p = a.session(), q = b.session();
    EXPECT_EQ(p.settings, q.settings);
    ASSERT_EQ(p.backends.size(), q.backends.size());
    for (size_t i = 0; i < p.backends.size(); ++i) {
        EXPECT_EQ(p.backends[i].name, q.backends[i].name);
        EXPECT_EQ(p.backends[i].default_buffer_type, q.backends[i].default_buffer_type);
        EXPECT_EQ(p.backends[i].supports_buffer_type, q.backends[i].supports_buffer_type);
        EXPECT_EQ(p.backends[i].kernel_times, q.backends[i].kernel_times);
        EXPECT_EQ(p.backends[i].keeps_order, q.backends[i].keeps_order);
    }
    ASSERT_EQ(p.buffer_types.size(), q.buffer_types.size());
    for (size_t i = 0; i < p.buffer_types.size(); ++i) {
        EXPECT_EQ(p.buffer_types[i].name, q.buffer_types[i].name);
        EXPECT_EQ(p.buffer_types[i].alignment, q.buffer_types[i].alignment);
        EXPECT_EQ(p.buffer_types[i].is_host, q.buffer_types[i].is_host);
    }
}

std::shared_ptr<LiveStore> a_run() {
    auto store = std::make_shared<LiveStore>();
    SessionInfo info = session({"Vulkan0", "CPU"});
    info.backends[0].keeps_order = true;
    SampleRun run(*store, info, 2);
    run.evaluate(blocks(3, 2, 2));
    run.evaluate_again();
    run.evaluate(random_sketch({3, 4, 2}, run.session()), GraphKind::decode);
    for (const KernelTimes times : {KernelTimes::splits, KernelTimes::none, KernelTimes::kernels}) {
        run.kernel_times = times;
        run.evaluate_again();
    }
    return store;
}

std::shared_ptr<LiveStore> every_kind(uint32_t seed) {
    auto store = std::make_shared<LiveStore>();
    const OwnedGraph graph = blocks(1, 1, 2);
    store->session(session({"Vulkan0", "CPU"}));
    store->graph(0, graph.view(), CapabilityTable());
    EachKind(*store, seed, static_cast<int32_t>(graph.tensors.size()), static_cast<int32_t>(graph.nodes.size()), 2).add(20);
    return store;
}

TEST(Stream, HoldsARunAsATraceDoes) {
    const auto run = a_run();
    StreamInFile file;
    write_stream(*run, file.stream);
    const ImportedStream imported = ImportedStream::file(file.path());
    ASSERT_EQ(imported.error, "");
    EXPECT_EQ(imported.result.notes, std::vector<std::string>());
    expect_same(*run, *imported.store);
}

TEST(Stream, HasEveryFieldOfEveryRecordKind) {
    for (const uint32_t seed : {1U, 2U, 3U}) {
        const auto all = every_kind(seed);
        StreamInFile file;
        write_stream(*all, file.stream);
        ImportedStream imported = ImportedStream::file(file.path());
        ASSERT_EQ(imported.error, "");
        // An evaluation's end is its last record: what the made-up run has behind it comes too late.
        std::vector<Record> before, after = imported.records();
        all->read(0, all->n_steps(), before);
        const auto is_end = [](const Record& r) { return std::holds_alternative<record::EvaluationEnd>(r.fact); };
        const auto end = std::find_if(before.begin(), before.end(), is_end);
        ASSERT_EQ(after.size(), static_cast<size_t>(end - before.begin()) + 1);
        for (size_t i = 0; i < after.size(); ++i) {
            EXPECT_TRUE(same(
                before[i], after[i], [&](StringId id) { return all->text(id); },
                [&](StringId id) { return imported.store->text(id); }))
                << fact_name(before[i].fact);
        }
    }
}

/// Each kind by itself with all of its fields, in an evaluation of its own, so that none comes too late.
TEST(Stream, HasEveryFieldOfEachRecordKindAlone) {
    const auto all = every_kind(4);
    std::vector<Record> records;
    all->read(0, all->n_steps(), records);
    const auto alone = std::make_shared<LiveStore>();
    alone->session(all->session());
    alone->graph(0, all->graph(0).view(), CapabilityTable());
    EvaluationId e = 0;
    std::vector<bool> seen(std::variant_size_v<Fact>);
    for (const Record& r : records) {
        if (std::holds_alternative<record::EvaluationBegin>(r.fact) || std::holds_alternative<record::PlanBegin>(r.fact) ||
            std::holds_alternative<record::CopyMade>(r.fact)) {
            continue;
        }
        alone->set_evaluation(e);
        record::EvaluationBegin begin;
        begin.planned_in = e++;
        alone->add(begin);
        alone->add(std::get<record::PlanBegin>(records[1].fact));
        Fact fact = r.fact;
        std::visit(
            [&]<typename T>(T& f) {
                for_each_field<T>([&](const auto& field) {
                    if constexpr (std::is_same_v<typename std::remove_cvref_t<decltype(field)>::Value, StringId>) {
                        if (const StringId* text = known(f.*field.member); text != nullptr && field.meaning == Meaning::text) {
                            f.*field.member = alone->intern(all->text(*text));
                        }
                    }
                });
            },
            fact);
        alone->add(fact);
        seen[fact.index()] = true;
        if (!std::holds_alternative<record::EvaluationEnd>(fact)) {
            alone->add(record::EvaluationEnd{});
        }
    }
    for_each_kind([&]<typename T>(size_t kind) {
        constexpr bool special = std::is_same_v<T, record::EvaluationBegin> || std::is_same_v<T, record::PlanBegin> ||
                                 std::is_same_v<T, record::CopyMade>;
        EXPECT_TRUE(seen[kind] || special) << fact_name(T{});
    });
    StreamInFile file;
    write_stream(*alone, file.stream);
    const ImportedStream imported = ImportedStream::file(file.path());
    ASSERT_EQ(imported.error, "");
    expect_same(*alone, *imported.store);
}

TEST(Stream, IsStoredAsATraceThatCanBeRead) {
    const auto run = a_run();
    StreamInFile file;
    write_stream(*run, file.stream);
    const files::Folder folder;
    TraceWriter writer(folder / "t.trace");
    import_file(file.path(), writer);
    writer.close();
    expect_same(*run, TraceReader(folder / "t.trace"));
}

TEST(Stream, WhatIsLeftOutOfARecordIsNotKnown) {
    StreamInFile file;
    SmallProgram program(file.stream);
    program.describe(7);
    std::vector<uint32_t> empty;
    for_each_kind([&]<typename T>(size_t) { empty.push_back(sscp_kind(&file.stream, std::string(fact_name(T{})).c_str())); });
    for_each_kind([&]<typename T>(size_t kind) {
        if constexpr (!std::is_same_v<T, record::CopyMade> && !std::is_same_v<T, record::PlanBegin> &&
                      !std::is_same_v<T, record::Reserve> && !std::is_same_v<T, record::Alternative> &&
                      !std::is_same_v<T, record::Placement>) { // these say nothing without what they name
            SmallBlock block(file.stream, static_cast<int64_t>(kind));
            block.put(program.plan_begin, 7);
            sscp_put(&block.block, empty[kind], nullptr, 0);
            block.commit();
        }
    });
    const ImportedStream imported = ImportedStream::file(file.path());
    ASSERT_EQ(imported.error, "");
    int n = 0;
    for (const Record& r : imported.records()) {
        EXPECT_FALSE(r.time_ns);
        if (const auto* input = std::get_if<record::SplitInput>(&r.fact)) {
            EXPECT_EQ(input->bytes, std::nullopt);
            EXPECT_EQ(input->tensor, no_tensor);
            ++n;
        } else if (const auto* split = std::get_if<record::SplitBegin>(&r.fact)) {
            EXPECT_EQ(split->index, 0);
            EXPECT_EQ(split->backend, std::nullopt);
            EXPECT_EQ(split->why, std::nullopt);
            ++n;
        } else if (const auto* value = std::get_if<record::Value>(&r.fact)) {
            EXPECT_TRUE(std::isnan(value->mean));
            ++n;
        } else if (const auto* wait = std::get_if<record::Wait>(&r.fact)) {
            EXPECT_EQ(wait->split, -1);
            ++n;
        } else if (const auto* plan = std::get_if<record::PlanBegin>(&r.fact)) {
            EXPECT_EQ(plan->n_nodes, 1); // which is counted
            EXPECT_EQ(plan->n_leafs, 1);
        }
    }
    EXPECT_EQ(n, 4);
}

} // namespace
} // namespace schedscope::test
