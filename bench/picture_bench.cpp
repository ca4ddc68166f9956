// Pictures and the report of traces of 20,000 nodes, from the file on: opening it, the state, and what is asked for. A picture
// that the program draws by itself takes less than five seconds, its text less than one; a case that takes longer fails.
#include "bench/long_trace.h"
#include "runtime/planner/plan.h"
#include "tests/support/graphs/transformer_sketch.h"
#include "traces/store/reading/reader.h"
#include "traces/store/writer.h"
#include "viz/report/report.h"

#include <benchmark/benchmark.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <functional>
#include <unistd.h>

namespace schedscope {
namespace {

constexpr int n_layers = 640;

/// The sketch's answers, as the planner asks for them.
class SketchCapabilities final : public Capabilities {
public:
    explicit SketchCapabilities(const test::TransformerSketch& sketch) : sketch_(sketch) {}
    int n_backends() const noexcept override { return static_cast<int>(sketch_.session.backends.size()); }
    BufferTypeId default_buffer_type(BackendId backend) const override { return backend; }
    bool is_host(BufferTypeId type) const override { return sketch_.session.buffer_types[static_cast<size_t>(type)].is_host; }
    Answer supports_op(BackendId, TensorId) const override { return {}; }
    bool supports_buffer_type(BackendId backend, BufferTypeId type) const override { return backend == type; }
    bool wants_offload(BackendId, TensorId) const override { return false; }

private:
    const test::TransformerSketch& sketch_;
};

/// A recorded plan; the file is gone with it.
class TemporaryPlan {
public:
    TemporaryPlan() {
        test::TransformerSketch sketch;
        test::sketch_transformer(n_layers, sketch);
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
    ~TemporaryPlan() { std::filesystem::remove(path); }
    TemporaryPlan(const TemporaryPlan&) = delete;
    TemporaryPlan& operator=(const TemporaryPlan&) = delete;

    const std::string path =
        (std::filesystem::temp_directory_path() / ("schedscope-bench-" + std::to_string(getpid()) + ".trace")).string();
    int64_t n_nodes = 0;
};

const TemporaryPlan& recorded() {
    static const TemporaryPlan plan;
    return plan;
}

/// The program beside this one lays out.
PictureOptions options_of(PictureView view) {
    PictureOptions options;
    options.view = view;
    options.layout_command = {bench::program_beside("schedscope"), "--layout-child"};
    return options;
}

/// Runs `work` as often as wanted. What takes longer than people are promised, or fails, is an error of this case and not the end
/// of all.
void timed(benchmark::State& state, double most_seconds, const std::function<void()>& work) {
    double slowest = 0;
    for (auto _ : state) {
        const auto start = std::chrono::steady_clock::now();
        try {
            work();
        } catch (const std::exception& error) {
            state.SkipWithError(error.what());
            return;
        }
        slowest = std::max(slowest, std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
    }
    if (slowest > most_seconds) {
        state.SkipWithError(("took " + std::to_string(slowest) + " s, more than " + std::to_string(most_seconds)).c_str());
    }
}

constexpr double most_for_text = 1, most_for_picture = 5, most_for_report = 30; // seconds

void text(benchmark::State& state, PictureView view) {
    recorded();
    size_t bytes = 0;
    timed(state, most_for_text, [&] {
        History history(std::make_shared<TraceReader>(recorded().path));
        bytes = make_dot(history, options_of(view)).size();
    });
    state.SetLabel(std::to_string(recorded().n_nodes) + " nodes, " + std::to_string(bytes) + " bytes");
}
BENCHMARK_CAPTURE(text, nodes, PictureView::nodes)->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK_CAPTURE(text, layers, PictureView::layers)->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK_CAPTURE(text, splits, PictureView::splits)->Unit(benchmark::kMillisecond)->UseRealTime();

/// A million records: 47 evaluations of three plans of 20,000 nodes in 628 splits, with what ran.
const std::string& long_run() {
    static const bench::LongTrace trace("picture");
    return trace.path;
}

/// The view that the program chooses by itself, as a file.
void default_picture(benchmark::State& state, const std::string& trace, PictureFormat format) {
    const std::string path = trace + ".picture";
    timed(state, most_for_picture, [&] {
        History history(std::make_shared<TraceReader>(trace));
        write_picture(history, options_of(default_view(history)), format, path);
    });
    std::error_code not_there;
    state.SetLabel(std::to_string(std::filesystem::file_size(path, not_there)) + " bytes");
    std::filesystem::remove(path, not_there);
}
void default_picture_of_a_plan(benchmark::State& state) { default_picture(state, recorded().path, PictureFormat::svg); }
void default_picture_of_a_long_run(benchmark::State& state, PictureFormat format) { default_picture(state, long_run(), format); }
BENCHMARK(default_picture_of_a_plan)->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK_CAPTURE(default_picture_of_a_long_run, svg, PictureFormat::svg)->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK_CAPTURE(default_picture_of_a_long_run, dot, PictureFormat::dot)->Unit(benchmark::kMillisecond)->UseRealTime();

void report(benchmark::State& state, const std::string& trace) {
    size_t bytes = 0;
    timed(state, most_for_report, [&] {
        History history(std::make_shared<TraceReader>(trace));
        ReportOptions options;
        options.layout = options_of(PictureView::splits);
        bytes = make_report(history, options).size();
    });
    state.SetLabel(std::to_string(bytes) + " bytes");
}
void report_of_a_plan(benchmark::State& state) { report(state, recorded().path); }
void report_of_a_long_run(benchmark::State& state) { report(state, long_run()); }
BENCHMARK(report_of_a_plan)->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK(report_of_a_long_run)->Unit(benchmark::kMillisecond)->UseRealTime();

} // namespace
} // namespace schedscope
