#include "tests/support/random/simulated_device.h"

#include "runtime/backend/cpu/cpu_device.h"
#include "runtime/clock.h"
#include "tests/support/random/shuffle.h"

#include <cstring>
#include <deque>
#include <map>

namespace schedscope::test {

namespace {

/// Nodes as they were when they were queued: tensors may be placed elsewhere when they run.
class Snapshot {
public:
    Snapshot(const SplitGraph& split, int32_t first, int32_t count) {
        for (int32_t i = first; i < first + count; ++i) {
            graph_.nodes.push_back(copy(split.nodes[static_cast<size_t>(i)]));
        }
        for (const FusionGroup& group : split.groups) {
            if (group.first >= first && group.first + group.count <= first + count) {
                graph_.groups.push_back({group.first - first, group.count, group.kernel});
            }
        }
        for (Tensor* node : graph_.nodes) {
            for (Tensor*& source : node->src) {
                source = copy(source);
            }
        }
    }
    const SplitGraph& graph() const noexcept { return graph_; }
    const std::deque<Tensor>& tensors() const noexcept { return tensors_; }

private:
    Tensor* copy(Tensor* t) {
        if (t == nullptr) {
            return nullptr;
        }
        auto [at, added] = copies_.try_emplace(t, nullptr);
        if (added) {
            at->second = &tensors_.emplace_back(*t);
            Tensor* made = at->second;
            made->view_source = copy(t->view_source);
            return made;
        }
        return at->second;
    }

    SplitGraph graph_;
    std::deque<Tensor> tensors_;
    std::map<const Tensor*, Tensor*> copies_;
};

} // namespace

class SimulatedDevice::Queue final : public Backend {
public:
    Queue(SimulatedDevice& device, std::string name, std::unique_ptr<Backend> engine)
        : device_(device), name_(std::move(name)), engine_(std::move(engine)), others_(device.watch_.in_use) {
        // Buffers ask all queues, each one those made before it.
        device_.watch_.in_use = [this](const Buffer* buffer) { return uses(buffer) || (others_ && others_(buffer)); };
    }
    ~Queue() override { device_.watch_.in_use = nullptr; } // a machine's queues end together
    std::string_view name() const noexcept override { return name_; }
    Device& device() const noexcept override { return device_; }

    void optimise(SplitGraph& split) override {
        if (device_.traits_.reorders) {
            std::mt19937 random(device_.seed_); // the same order for the same graph: memory that is used again relies on it
            shuffle(split.nodes, random);
        }
        engine_->optimise(split);
    }

    void compute(const SplitGraph& split, int32_t first, int32_t count, KernelLog* log) override {
        auto work = std::make_shared<Snapshot>(split, first, count);
        std::vector<const Buffer*> buffers;
        for (const Tensor& t : work->tensors()) {
            buffers.push_back(t.buffer);
        }
        queue(std::move(buffers), [this, work, first, log] {
            check(work->graph());
            KernelLog done;
            done.timed = log != nullptr && log->timed;
            ++device_.watch_.running;
            const int64_t start = now_ns();
            engine_->compute(work->graph(), 0, static_cast<int32_t>(work->graph().nodes.size()),
                             log != nullptr ? &done : nullptr);
            --device_.watch_.running;
            if (log != nullptr && log->spanned) {
                log->start_ns = start;
                log->end_ns = now_ns();
            }
            for (KernelTime& kernel : done.kernels) {
                kernel.first += first;
                log->kernels.push_back(kernel);
            }
        });
    }
    void synchronize() override { work_off(n_queued_); }

    bool copy_async(const Tensor& source, const Tensor& target) override {
        const auto reaches = [this](const Tensor& t) {
            return t.buffer->type().is_host() || device_.supports_buffer_type(t.buffer->type());
        };
        if (device_.works_at_once() || !device_.traits_.copies_on_queue || !reaches(source) || !reaches(target)) {
            return false;
        }
        queue({source.buffer, target.buffer}, [this, from = source, to = target] {
            ++device_.watch_.running;
            std::memcpy(host_data(to), host_data(from), n_bytes(from));
            --device_.watch_.running;
        });
        return true;
    }

    std::unique_ptr<Event> make_event() override {
        return device_.works_at_once() || !device_.traits_.has_events ? nullptr : std::make_unique<Mark>();
    }
    void record(Event& event) override { mark(event) = {this, n_queued_}; }
    void wait(Event& event) override {
        const Mark::At at = mark(event);
        queue({}, [at] { reach(at); });
    }
    void synchronize(Event& event) override { reach(mark(event)); }

private:
    struct Work {
        std::vector<const Buffer*> buffers;
        std::function<void()> run;
    };
    struct Mark final : Event {
        struct At {
            Queue* queue = nullptr;
            size_t n_before = 0;
        };
        At at;
    };
    static Mark::At& mark(Event& event) { return static_cast<Mark&>(event).at; }
    static void reach(const Mark::At& at) {
        if (at.queue != nullptr) {
            at.queue->work_off(at.n_before);
        }
    }

    bool uses(const Buffer* buffer) const {
        for (const Work& work : queue_) {
            if (std::find(work.buffers.begin(), work.buffers.end(), buffer) != work.buffers.end()) {
                return true;
            }
        }
        return false;
    }

    void queue(std::vector<const Buffer*> buffers, std::function<void()> run) {
        queue_.push_back({std::move(buffers), std::move(run)});
        ++n_queued_;
        const Diligence diligence = device_.traits_.diligence;
        if (device_.works_at_once() || diligence == Diligence::eager) {
            synchronize();
        } else if (diligence == Diligence::random && device_.random_() % 2 == 0) {
            work_off(n_queued_ - device_.random_() % (queue_.size() + 1));
        }
    }

    /// Runs what was queued until `n` pieces have been done since the beginning.
    void work_off(size_t n) {
        while (n_queued_ - queue_.size() < n) {
            const Work work = std::move(queue_.front());
            queue_.pop_front();
            work.run();
        }
    }

    void check(const SplitGraph& graph) {
        for (const Tensor* node : graph.nodes) {
            if (is_view_op(node->op)) {
                continue;
            }
            check(*node, *node, "writes");
            for (const Tensor* source : node->src) {
                if (source != nullptr) {
                    check(*node, *source, "reads");
                }
            }
            if (!device_.supports_op(*node).yes) {
                device_.watch_.complain(name_ + " was given " + node->name + ", which it refuses");
            }
        }
    }
    void check(const Tensor& node, const Tensor& t, const char* what) {
        if (t.buffer == nullptr) {
            device_.watch_.complain(node.name + " on " + name_ + ' ' + what + ' ' + t.name + ", which lies nowhere");
        } else if (!device_.supports_buffer_type(t.buffer->type())) {
            device_.watch_.complain(node.name + " on " + name_ + ' ' + what + ' ' + t.name + " in " +
                                    std::string(t.buffer->type().name()));
        }
    }

    SimulatedDevice& device_;
    std::string name_;
    std::unique_ptr<Backend> engine_;
    std::function<bool(const Buffer*)> others_;
    std::deque<Work> queue_;
    size_t n_queued_ = 0;
};

SimulatedDevice::SimulatedDevice(DeviceTraits traits, const BufferType& memory, std::set<const BufferType*> uses, Watch& watch,
                                 uint32_t seed)
    : traits_(std::move(traits)), memory_(memory), uses_(std::move(uses)), watch_(watch), seed_(seed), random_(seed),
      engine_(make_cpu_device()) {}

Answer SimulatedDevice::supports_op(const Tensor& node) const {
    if (traits_.refuses.contains(node.op)) {
        return Answer::no(Refusal::op, "simulated to refuse it");
    }
    if (node.src[0] != nullptr && traits_.refuses_types.contains({node.op, node.src[0]->type})) {
        return Answer::no(Refusal::type, "simulated to refuse the type of source 0");
    }
    if (node.op != Op::NONE && n_elements(node) > traits_.most_elements) {
        return Answer::no(Refusal::size_limit, "simulated to be too small");
    }
    return {};
}

bool SimulatedDevice::wants_offload(const Tensor& node, int64_t min_batch) const {
    return traits_.offloads && offload_batch(node) >= min_batch;
}

std::unique_ptr<Backend> SimulatedDevice::make_backend(const BackendOptions& options) {
    BackendOptions of_engine;
    of_engine.n_threads = 1;
    of_engine.fusion = options.fusion;
    return std::make_unique<Queue>(*this, options.name.empty() ? traits_.name : options.name, engine_->make_backend(of_engine));
}

} // namespace schedscope::test
