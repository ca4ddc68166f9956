// What planning costs per node: passes 1 to 5 with the copied graph, without and with records, and the memory plan.
#include "runtime/planner/memory/allocate.h"
#include "runtime/planner/plan.h"
#include "runtime/planner/recorder.h"
#include "tests/support/graphs/transformer_sketch.h"

#include <benchmark/benchmark.h>

using namespace schedscope;
using schedscope::test::TransformerSketch;

namespace {

/// Appends every record to memory, which is used again for the next plan.
class MemoryRecorder final : public Recorder {
public:
    void session(const SessionInfo&) override {}
    void graph(GraphId, const GraphView&, const CapabilityTable&) override {}
    StringId intern(std::string_view) override { return 1; }
    void keep(const Record& record) override { records.push_back(record); }

    std::vector<Record> records;
};

void report(benchmark::State& state, size_t n_nodes) {
    state.counters["nodes"] = static_cast<double>(n_nodes);
    state.counters["per_node"] = benchmark::Counter(static_cast<double>(n_nodes) * static_cast<double>(state.iterations()),
                                                    benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
}

void plan_and_copy(benchmark::State& state, Recorder* recorder, MemoryRecorder* clear) {
    TransformerSketch t;
    sketch_transformer(static_cast<int>(state.range(0)) / test::nodes_per_layer, t);
    Carry carry;
    Plan plan;
    AllocatedGraph copy;
    for (auto _ : state) {
        if (clear != nullptr) {
            clear->records.clear();
        }
        make_plan(t.graph.view(), t.answers, {}, carry, plan, recorder);
        copy_graph(t.graph.view(), plan, t.graph.nodes, copy);
        benchmark::DoNotOptimize(copy.nodes.data());
    }
    report(state, t.graph.nodes.size());
    if (clear != nullptr) {
        state.counters["records_per_node"] =
            static_cast<double>(clear->records.size()) / static_cast<double>(t.graph.nodes.size());
    }
}

void passes_without_records(benchmark::State& state) { plan_and_copy(state, nullptr, nullptr); }

void passes_with_records(benchmark::State& state) {
    MemoryRecorder recorder;
    plan_and_copy(state, &recorder, &recorder);
}

/// `again`: every time as if the graph before had been another one.
void allocate(benchmark::State& state, bool again) {
    TransformerSketch t, other;
    sketch_transformer(static_cast<int>(state.range(0)) / test::nodes_per_layer, t);
    sketch_transformer(1, other);
    Carry carry;
    Plan plan, other_plan;
    AllocatedGraph copy, other_copy;
    make_plan(t.graph.view(), t.answers, {}, carry, plan, nullptr);
    copy_graph(t.graph.view(), plan, t.graph.nodes, copy);
    make_plan(other.graph.view(), other.answers, {}, carry, other_plan, nullptr);
    copy_graph(other.graph.view(), other_plan, other.graph.nodes, other_copy);
    MemoryPlanner planner;
    for (auto _ : state) {
        if (again) {
            planner.place(other.graph.view(), other_plan, other_copy, other.answers, other.session.buffer_types, nullptr);
        }
        benchmark::DoNotOptimize(
            planner.place(t.graph.view(), plan, copy, t.answers, t.session.buffer_types, nullptr).tensors.data());
    }
    report(state, t.graph.nodes.size());
}

void allocate_same_graph(benchmark::State& state) { allocate(state, false); }
void allocate_other_graph(benchmark::State& state) { allocate(state, true); }

BENCHMARK(passes_without_records)->Arg(128)->Arg(192)->Arg(800)->Arg(4000)->Arg(20000);
BENCHMARK(passes_with_records)->Arg(128)->Arg(192)->Arg(800)->Arg(4000)->Arg(20000);
BENCHMARK(allocate_same_graph)->Arg(128)->Arg(192)->Arg(800)->Arg(4000)->Arg(20000);
BENCHMARK(allocate_other_graph)->Arg(800)->Arg(4000)->Arg(20000);

} // namespace
