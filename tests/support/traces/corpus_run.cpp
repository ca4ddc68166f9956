#include "tests/support/traces/corpus_run.h"

#include "runtime/planner/memory/allocate.h"
#include "runtime/system/sanitizers.h"
#include "tests/corpus/corpus_file.h"
#include "tests/corpus/decode.h"
#include "tests/corpus/run_case.h"
#include "tests/corpus/text_lines.h"
#include "tests/support/paths.h"

#include <filesystem>
#include <gtest/gtest.h>

namespace schedscope::test {

SessionInfo session_of(const corpus::Case& c) {
    SessionInfo info;
    info.buffer_types = c.session.buffer_types;
    for (const corpus::MockBackend& mock : c.backends) {
        BackendInfo backend;
        backend.name = backend.device = mock.name;
        backend.default_buffer_type = mock.buffer_type;
        backend.supports_buffer_type = mock.uses;
        info.backends.push_back(backend);
    }
    return info;
}

void record_case(const corpus::Case& c, Recorder& recorder) {
    const SessionInfo info = session_of(c);
    recorder.session(info);
    Carry carry;
    Plan plan;
    MemoryPlanner planner;
    int next_stage = 0;
    const int n_rounds = c.error_round >= 0 ? c.error_round + 1 : static_cast<int>(c.rounds.size());
    for (int i = 0; i < n_rounds; ++i) {
        const corpus::Round& round = c.error_round >= 0 ? c.rounds.front() : c.rounds[static_cast<size_t>(i)];
        const OwnedGraph& graph = round.graph ? *round.graph : c.graph;
        next_stage = round.synchronise_before ? 0 : next_stage;
        recorder.set_evaluation(i);
        record::EvaluationBegin begin;
        begin.planned_in = i;
        recorder.add(begin);
        const GraphView view = graph.view();
        CapabilityTable table;
        fill_table(table, info, corpus::MockCapabilities(c, view), static_cast<int32_t>(graph.tensors.size()));
        recorder.graph(i, view, table);
        PlanOptions options;
        options.op_offload = c.op_offload;
        options.n_stages = c.n_stages;
        options.current_stage = c.allocates ? next_stage : round.current_stage;
        options.graph_id = i;
        options.session = &info;
        record::EvaluationEnd end;
        try {
            make_plan(view, table, options, carry, plan, &recorder);
            if (c.allocates) {
                next_stage = (next_stage + 1) % c.n_stages;
                planner.place(view, plan, graph.nodes, table, info.buffer_types, &recorder);
            }
        } catch (const PlanError& error) {
            end.failed = true;
            end.error = recorder.intern(error.what());
        }
        recorder.add(end);
        if (end.failed) {
            return;
        }
    }
}

namespace {

/// Calls `goes_on` for them, until it says no.
CorpusPart walk(int every, const std::function<bool(corpus::Case&)>& goes_on) {
    const std::string whole = paths::shared("corpus");
    const CorpusPart part = std::filesystem::exists(whole) && !sanitized ? CorpusPart::whole : CorpusPart::sample;
    if (part == CorpusPart::sample) {
        every = 1;
    }
    for (const std::filesystem::path& file :
         corpus::corpus_files(part == CorpusPart::whole ? whole : paths::source("tests/data/corpus"))) {
        corpus::TextLines lines(file);
        std::string line;
        for (int number = 0; lines.next(line); ++number) {
            if (line.empty() || number % every != 0) {
                continue;
            }
            corpus::Case c = corpus::decode_case(line);
            if (!goes_on(c)) {
                return part;
            }
        }
    }
    return part;
}

} // namespace

CorpusPart for_each_corpus_case(int every, const std::function<void(const corpus::Case&)>& f) {
    return walk(every, [&](const corpus::Case& c) {
        f(c);
        return true;
    });
}

void with_corpus_case(bool with_memory, const std::function<void(const corpus::Case&)>& look) {
    bool found = false;
    walk(1, [&](const corpus::Case& c) {
        found = c.error_round < 0 && c.n_stages == 1 && c.allocates == with_memory && c.rounds.size() == 1 &&
                c.rounds[0].expected.splits.size() > 3 && c.rounds[0].expected.rewired.size() > 3;
        if (found) {
            look(c);
        }
        return !found;
    });
    EXPECT_TRUE(found);
}

} // namespace schedscope::test
