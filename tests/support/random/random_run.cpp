#include "tests/support/random/random_run.h"

#include "runtime/error.h"
#include "runtime/planner/recorder.h"
#include "runtime/scheduler/scheduler.h"
#include "tests/support/random/machine.h"
#include "tests/support/random/plain_run.h"

#include <algorithm>
#include <bit>

namespace schedscope::test {

namespace {

/// Counts records and asks for a grain.
class CountingRecorder final : public Recorder {
public:
    explicit CountingRecorder(Grain grain) : grain_(grain) {}
    void session(const SessionInfo&) override {}
    void graph(GraphId, const GraphView&, const CapabilityTable&) override {}
    StringId intern(std::string_view) override { return 0; }
    void keep(const Record&) override { ++n_; }
    Grain grain() const override { return grain_; }

private:
    Grain grain_;
    int64_t n_ = 0;
};

class Sequence {
public:
    explicit Sequence(uint32_t seed) : random_(seed), machine_(seed), plain_(seed), model_(seed, any_steps()) {
        model_.give_memory([this]() -> const BufferType& { return random_memory(); });
        options_.n_stages = one_in(2) ? 4 : 1;
        options_.op_offload = !one_in(4);
        options_.offload_min_batch = 1 + static_cast<int64_t>(below(12));
        if (one_in(2)) {
            recorder_ = std::make_unique<CountingRecorder>(static_cast<Recorder::Grain>(below(3)));
        }
    }

    RunOutcome run() {
        scheduler_ = std::make_unique<Scheduler>(machine_.backends(), options_);
        scheduler_->set_recorder(recorder_.get());
        outcome_.n_backends = static_cast<int>(machine_.backends().size());
        const RandomShape first = random_shape(), second = random_shape();
        const int n = 2 + static_cast<int>(below(6));
        for (int i = 0; i < n && outcome_.complaint.empty(); ++i) {
            if (graph_ != nullptr && one_in(4)) {
                compute_again();
            } else {
                plan_and_compute(one_in(3) ? random_shape() : one_in(2) ? first : second);
            }
            if (!one_in(3) || options_.n_stages == 1 || i + 1 == n) {
                synchronise();
            } else {
                ++outcome_.n_overlapping;
            }
        }
        scheduler_.reset();
        if (outcome_.complaint.empty()) {
            outcome_.complaint = machine_.watch().first();
        }
        if (!outcome_.complaint.empty()) {
            outcome_.complaint += "\n  on " + machine_.description() + "; stages " + std::to_string(options_.n_stages);
        }
        return outcome_;
    }

private:
    size_t below(size_t n) { return random_() % n; }
    bool one_in(size_t n) { return below(n) == 0; }
    const BufferType& random_memory() { return *machine_.memories()[below(machine_.memories().size())]; }
    RandomShape random_shape() {
        return {static_cast<uint32_t>(random_()), 5 + static_cast<int>(below(40)), 1 + static_cast<int64_t>(below(8))};
    }

    void plan_and_compute(const RandomShape& shape) {
        auto graph = std::make_unique<Graph>();
        build(*graph, model_, shape);
        pin_some(*graph, machine_, random_);
        try {
            scheduler_->plan(*graph);
        } catch (const Error&) {
            ++outcome_.n_refused; // a cache that no backend near its memory can write, say; the graph must not run
            scheduler_->reset();
            graph_.reset();
            return;
        }
        graph_ = std::move(graph);
        const auto seed = static_cast<uint32_t>(random_());
        plain_.run(shape, seed);
        compute(seed);
    }

    /// The same plan with other inputs.
    void compute_again() {
        synchronise();
        const auto seed = static_cast<uint32_t>(random_());
        plain_.again(seed);
        compute(seed);
    }

    void compute(uint32_t inputs_seed) {
        fill_inputs(*graph_, inputs_seed);
        scheduler_->compute_async();
        outcome_.n_copies += scheduler_->n_split_inputs();
        ++outcome_.n_computed;
    }

    void synchronise() {
        scheduler_->synchronize();
        if (graph_ == nullptr) {
            return;
        }
        for (size_t i = 0; i < graph_->nodes().size(); ++i) {
            const Tensor& node = *graph_->nodes()[i];
            if ((plain_.graph().nodes()[i]->flags & flag_output) != 0) {
                compare(node, *plain_.graph().nodes()[i]);
            }
        }
        for (size_t i = 0; i < model_.caches.size(); ++i) {
            compare(*model_.caches[i], *plain_.model().caches[i]);
        }
    }

    void compare(const Tensor& t, const Tensor& right) {
        std::vector<float> is(static_cast<size_t>(n_elements(t))), should_be(static_cast<size_t>(n_elements(right)));
        tensor_read(t, is.data(), 0, is.size() * sizeof(float));
        tensor_read(right, should_be.data(), 0, should_be.size() * sizeof(float));
        const bool same = std::equal(is.begin(), is.end(), should_be.begin(), should_be.end(), [](float a, float b) {
            return std::bit_cast<uint32_t>(a) == std::bit_cast<uint32_t>(b) ||
                   (a == 0 && b == 0); // a fused product may lose a zero's sign
        });
        if (outcome_.complaint.empty() && !same) {
            outcome_.complaint = "evaluation " + std::to_string(outcome_.n_computed) + ": " + t.name + " (" +
                                 std::string(op_name(t.op)) + ") is not what one CPU computes; " + machine_.watch().first();
        }
    }

    std::mt19937 random_;
    Machine machine_;
    PlainRun plain_;
    RandomModel model_;
    SchedulerOptions options_;
    std::unique_ptr<Recorder> recorder_;
    std::unique_ptr<Graph> graph_;
    std::unique_ptr<Scheduler> scheduler_;
    RunOutcome outcome_;
};

} // namespace

RunOutcome run_randomly(uint32_t seed) { return Sequence(seed).run(); }

} // namespace schedscope::test
