// How fast records are written to a file and read back. Each trace lies in the folder for temporary files and is removed.

#include "runtime/planner/plan.h"
#include "traces/history/history.h"
#include "traces/store/live_store.h"
#include "traces/store/reading/reader.h"
#include "traces/store/writer.h"

#include <benchmark/benchmark.h>
#include <filesystem>
#include <unistd.h>

namespace schedscope {
namespace {

constexpr int n_nodes = 1000;

std::string trace_path(const std::string& name) {
    return (std::filesystem::temp_directory_path() / ("schedscope-bench-" + std::to_string(getpid()) + "-" + name)).string();
}

class TemporaryTrace {
public:
    explicit TemporaryTrace(const std::string& name) : path(trace_path(name)) {}
    ~TemporaryTrace() {
        for (const char* suffix : {"", "-wal", "-shm", "-journal"}) {
            std::filesystem::remove(path + suffix);
        }
    }
    const std::string path;
};

OwnedGraph chain() {
    OwnedGraph graph;
    for (TensorId id = 0; id <= n_nodes; ++id) {
        TensorInfo t;
        t.op = id == 0 ? Op::NONE : Op::ADD;
        t.name = graph.keep("node_" + std::to_string(id));
        t.ne = {64, 1, 1, 1};
        t.nb = contiguous_strides(*t.type, *t.ne);
        if (id > 0) {
            t.src[0] = t.src[1] = id - 1;
        }
        graph.tensors.push_back(t);
        (id == 0 ? graph.leafs : graph.nodes).push_back(id);
    }
    return graph;
}

SessionInfo session() {
    SessionInfo info;
    for (const char* name : {"Vulkan0", "CPU"}) {
        BackendInfo b;
        b.name = b.device = name;
        b.default_buffer_type = static_cast<BufferTypeId>(info.buffer_types.size());
        info.buffer_types.push_back({name, b.name == "CPU", 32, -1});
        info.backends.push_back(b);
    }
    info.backends[0].supports_buffer_type = {1, 0};
    info.backends[1].supports_buffer_type = {0, 1};
    return info;
}

/// Records as planning and running a graph write them, about `n` of them: for each node two questions, an assignment, a place and
/// a kernel.
void record(Recorder& recorder, int64_t n) {
    const SessionInfo info = session();
    const OwnedGraph graph = chain();
    CapabilityTable answers;
    answers.session = &info;
    answers.n_tensors = static_cast<int32_t>(graph.tensors.size());
    answers.op_answers.resize(info.backends.size() * graph.tensors.size());
    answers.offload_answers.resize(answers.op_answers.size());
    recorder.session(info);
    recorder.graph(0, graph.view(), answers);
    const StringId kernel = recorder.intern("add_f32");
    EvaluationId evaluation = 0;
    for (Step step = 0; step < n; ++evaluation) {
        recorder.set_evaluation(evaluation);
        record::EvaluationBegin begin;
        begin.planned_in = evaluation;
        recorder.add(begin);
        recorder.add(record::PlanBegin{0, n_nodes, 1, 1, 0, true});
        recorder.add(record::PassBegin{Pass::rest_down});
        for (TensorId t = 1; t <= n_nodes; ++t) {
            record::BackendQuery query;
            query.backend = 0;
            query.tensor = t;
            recorder.add_in_burst(query);
            query.backend = 1;
            recorder.add_in_burst(query);
            recorder.add_in_burst(record::Assign{Pass::rest_down, Cause::supported, -1, no_backend, 1, t, t - 1});
            recorder.add_in_burst(record::Placement{t, no_tensor, 1, 0, t, t, t * 256, 256});
        }
        recorder.add(record::PassEnd{Pass::rest_down});
        for (TensorId t = 1; t <= n_nodes; ++t) {
            recorder.add(record::Execute{0, 1, false, 1, t, t, kernel, t * 1000, t * 1000 + 900, 512, 64});
        }
        recorder.add(record::EvaluationEnd{});
        recorder.flush();
        step = int64_t{evaluation + 1} * (5 * n_nodes + 5);
    }
}

constexpr int64_t million = 1000000;

void write_file(benchmark::State& state) {
    const TemporaryTrace trace("write");
    for (auto _ : state) {
        TraceWriter writer(trace.path);
        record(writer, million);
        writer.close();
    }
    state.SetItemsProcessed(state.iterations() * million);
    state.counters["bytes/record"] = static_cast<double>(std::filesystem::file_size(trace.path)) / static_cast<double>(million);
}
BENCHMARK(write_file)->Unit(benchmark::kMillisecond)->UseRealTime();

void keep_in_memory(benchmark::State& state) {
    for (auto _ : state) {
        LiveStore store;
        record(store, million);
    }
    state.SetItemsProcessed(state.iterations() * million);
}
BENCHMARK(keep_in_memory)->Unit(benchmark::kMillisecond);

/// A trace of a million records, written once.
const TemporaryTrace& large_trace() {
    static const TemporaryTrace trace("large");
    static const bool written = [] {
        TraceWriter writer(trace.path);
        record(writer, million);
        writer.close();
        return true;
    }();
    (void)written;
    return trace;
}

void open_and_first_state(benchmark::State& state) {
    const std::string& path = large_trace().path;
    for (auto _ : state) {
        History history(std::make_shared<TraceReader>(path));
        benchmark::DoNotOptimize(history.plan(history.last_planned()).tensors.size());
    }
}
BENCHMARK(open_and_first_state)->Unit(benchmark::kMillisecond);

void read_all(benchmark::State& state) {
    const TraceReader reader(large_trace().path);
    std::vector<Record> records;
    for (auto _ : state) {
        for (Step first = 0; first < reader.n_steps(); first += 4096) {
            records.clear();
            reader.read(first, first + 4096, records);
        }
    }
    state.SetItemsProcessed(state.iterations() * reader.n_steps());
}
BENCHMARK(read_all)->Unit(benchmark::kMillisecond);

void step_forward(benchmark::State& state) {
    History history(std::make_shared<TraceReader>(large_trace().path));
    Step step = history.n_steps() / 2;
    for (auto _ : state) {
        benchmark::DoNotOptimize(history.state_at(++step).step);
    }
}
BENCHMARK(step_forward)->Unit(benchmark::kMicrosecond)->Iterations(100000);

void step_backward(benchmark::State& state) {
    History history(std::make_shared<TraceReader>(large_trace().path));
    Step step = history.n_steps() / 2;
    for (auto _ : state) {
        benchmark::DoNotOptimize(history.state_at(--step).step);
    }
}
BENCHMARK(step_backward)->Unit(benchmark::kMicrosecond)->Iterations(100000);

} // namespace
} // namespace schedscope
