// Pictures and the report of a trace of 20,000 nodes, from the file on: opening it, the state, and what is asked for.
#include "bench/transformer_sketch.h"
#include "runtime/scheduler/plan.h"
#include "traces/reader.h"
#include "traces/writer.h"
#include "viz/report.h"

#include <benchmark/benchmark.h>

#include <filesystem>
#include <unistd.h>

namespace schedscope {
namespace {

constexpr int n_layers = 640;

/// The sketch's answers, as the planner asks for them.
class SketchCapabilities final : public Capabilities {
public:
    explicit SketchCapabilities(const bench::TransformerSketch& sketch) : sketch_(sketch) {}
    int n_backends() const noexcept override { return static_cast<int>(sketch_.session.backends.size()); }
    BufferTypeId default_buffer_type(BackendId backend) const override { return backend; }
    bool is_host(BufferTypeId type) const override { return sketch_.session.buffer_types[static_cast<size_t>(type)].is_host; }
    Answer supports_op(BackendId, TensorId) const override { return {}; }
    bool supports_buffer_type(BackendId backend, BufferTypeId type) const override { return backend == type; }
    bool wants_offload(BackendId, TensorId) const override { return false; }

private:
    const bench::TransformerSketch& sketch_;
};

/// A recorded plan; the file is gone with it.
class RecordedPlan {
public:
    RecordedPlan() {
        bench::TransformerSketch sketch;
        bench::sketch_transformer(n_layers, sketch);
        n_nodes = static_cast<int64_t>(sketch.graph.nodes.size());
        TraceWriter writer(path);
        writer.session(sketch.session);
        writer.set_evaluation(0);
        record::EvaluationBegin begin;
        begin.kind = GraphKind::prefill;
        begin.n_tokens = 16;
        writer.add(begin);
        writer.graph(0, sketch.graph.view(), sketch.answers);
        const SketchCapabilities capabilities(sketch);
        Carry carry;
        Plan plan;
        make_plan(sketch.graph.view(), capabilities, {}, carry, plan, &writer);
        writer.add(record::EvaluationEnd{});
        writer.close();
    }
    ~RecordedPlan() { std::filesystem::remove(path); }
    RecordedPlan(const RecordedPlan&) = delete;
    RecordedPlan& operator=(const RecordedPlan&) = delete;

    const std::string path =
        (std::filesystem::temp_directory_path() / ("schedscope-bench-" + std::to_string(getpid()) + ".trace")).string();
    int64_t n_nodes = 0;
};

const RecordedPlan& recorded() {
    static const RecordedPlan plan;
    return plan;
}

/// The program beside this one lays out.
PictureOptions options_of(PictureView view) {
    PictureOptions options;
    options.view = view;
    options.layout_command = {(std::filesystem::read_symlink("/proc/self/exe").parent_path() / "schedscope").string(),
                              "--layout-child"};
    return options;
}

void text(benchmark::State& state, PictureView view) {
    recorded();
    size_t bytes = 0;
    for (auto _ : state) {
        History history(std::make_shared<TraceReader>(recorded().path));
        bytes = make_dot(history, options_of(view)).size();
    }
    state.SetLabel(std::to_string(recorded().n_nodes) + " nodes, " + std::to_string(bytes) + " bytes");
}
BENCHMARK_CAPTURE(text, nodes, PictureView::nodes)->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK_CAPTURE(text, layers, PictureView::layers)->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK_CAPTURE(text, splits, PictureView::splits)->Unit(benchmark::kMillisecond)->UseRealTime();

/// The view that the program chooses by itself.
void default_picture(benchmark::State& state) {
    const std::string path = recorded().path + ".svg";
    for (auto _ : state) {
        History history(std::make_shared<TraceReader>(recorded().path));
        write_picture(history, options_of(default_view(history)), PictureFormat::svg, path);
    }
    std::filesystem::remove(path);
}
BENCHMARK(default_picture)->Unit(benchmark::kMillisecond)->UseRealTime();

void report(benchmark::State& state) {
    size_t bytes = 0;
    for (auto _ : state) {
        History history(std::make_shared<TraceReader>(recorded().path));
        ReportOptions options;
        options.layout = options_of(PictureView::splits);
        bytes = make_report(history, options).size();
    }
    state.SetLabel(std::to_string(bytes) + " bytes");
}
BENCHMARK(report)->Unit(benchmark::kMillisecond)->UseRealTime();

} // namespace
} // namespace schedscope
