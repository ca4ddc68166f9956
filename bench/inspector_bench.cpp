// How long the inspector takes to its first frame, and from a key to the frame that answers it, on a trace of a million records: state, rows on the
// screen and details, without the terminal's own writing.
#include "inspector/tui/inspector.h"

#include "inspector/tui/session.h"
#include "inspector/tui/view.h"
#include "tests/inspector/tui/made_trace.h"

#include <benchmark/benchmark.h>

namespace schedscope {
namespace {

constexpr int n_layers = 48; // about 1,500 nodes

/// A prefill that is planned, and decodes until there are a million records.
const std::shared_ptr<LiveStore>& million() {
    static const std::shared_ptr<LiveStore> store = [] {
        auto whole = std::make_shared<LiveStore>();
        testing::MadeRun run(n_layers);
        run.record(*whole, 1);
        const Step first = whole->n_steps();
        run.record_more(*whole, 1, 2);
        const Step each = whole->n_steps() - first;
        run.record_more(*whole, 2, 2 + static_cast<int>((1'000'000 - whole->n_steps()) / each + 1));
        return whole;
    }();
    return store;
}

/// What the screen of 60 rows needs of a view.
void draw(tui::Session& session, tui::View& view) {
    view.update(session);
    const int selected = std::max(view.row_of(session, session.selected()), 0);
    for (int row = selected; row < std::min(selected + 60, view.n_rows()); ++row)
        benchmark::DoNotOptimize(view.row(session, row, 40));
    if (view.n_rows() > 0)
        benchmark::DoNotOptimize(view.detail(session, selected, 80));
}

void first_frame(benchmark::State& state) {
    const auto source = million();
    for (auto _ : state) {
        tui::Session session(source, nullptr);
        const auto view = tui::make_nodes_view();
        draw(session, *view);
    }
    state.SetLabel(std::to_string(source->n_steps()) + " records");
}
BENCHMARK(first_frame)->Unit(benchmark::kMillisecond);

/// The view's number is the argument.
void step_to_frame(benchmark::State& state, bool forward) {
    tui::Session session(million(), nullptr);
    session.go(forward ? session.last_step() / 2 : session.last_step());
    std::unique_ptr<tui::View> view;
    for (const tui::ViewEntry& entry : tui::views())
        if (entry.number == state.range(0)) {
            view = entry.make();
            state.SetLabel(entry.name);
        }
    for (auto _ : state) {
        session.move(History::Unit::record, forward);
        draw(session, *view);
    }
}
BENCHMARK_CAPTURE(step_to_frame, next, true)->DenseRange(1, 7)->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(step_to_frame, previous, false)->Arg(1)->Unit(benchmark::kMicrosecond);

void jump_to_frame(benchmark::State& state) {
    tui::Session session(million(), nullptr);
    const auto view = tui::make_nodes_view();
    Step at = 1;
    for (auto _ : state) {
        at = (at * 48271 + 11) % session.last_step(); // all over the trace
        session.go(at);
        draw(session, *view);
    }
}
BENCHMARK(jump_to_frame)->Unit(benchmark::kMicrosecond);

/// The whole trace is looked through for a record that is not there.
void scan_all(benchmark::State& state) {
    tui::Session session(million(), nullptr);
    session.go(0);
    for (auto _ : state) {
        session.start_scan(tui::Query::parse("kind=execute name=no-such-tensor"), true);
        while (!session.scan_slice()) {}
    }
    state.SetItemsProcessed(static_cast<int64_t>(state.iterations()) * session.last_step());
}
BENCHMARK(scan_all)->Unit(benchmark::kMillisecond);

} // namespace
} // namespace schedscope
