#include "runtime/scheduler/scheduler.h"

#include "runtime/error.h"
#include "runtime/numbers.h"
#include "runtime/scheduler/compute_buffers.h"
#include "runtime/scheduler/executor.h"
#include "runtime/scheduler/optimise.h"
#include "runtime/scheduler/watch.h"

namespace schedscope {

namespace {

/// An operator in place, or one that writes into a cache, may have come to lie on another backend than the memory it writes: the
/// passes only ask for what is read (as ggml's do, which then writes out of bounds).
void refuse_writes_out_of_reach(const LivePlan& live, const LiveDevices& devices) {
    for (size_t s = 0; s < live.splits.size(); ++s) {
        const BackendId b = live.plan.splits[s].backend;
        for (const Tensor* node : live.splits[s].nodes) {
            if (node->view_source == nullptr || is_view_op(node->op) || node->buffer == nullptr) {
                continue;
            }
            // Where the backends are asked to read it, which a result in place may not be where it lies.
            const Tensor& root = *node->view_source;
            const bool allocated_before = live.info.tensors[root.id].buffer_type != no_buffer_type;
            const BackendId home = live.plan.assignments[root.id].backend;
            const BufferType& memory =
                allocated_before || home == no_backend ? node->buffer->type() : devices.device(home).buffer_type();
            if (!devices.device(b).supports_buffer_type(memory) ||
                !devices.device(b).supports_buffer_type(node->buffer->type())) {
                throw Error(ErrorKind::device, "no plan for this graph: '" + node->name + "' (" + std::string(op_name(node->op)) +
                                                   ") would run on " + std::string(devices.backend(b).name()) +
                                                   " and write into '" + node->view_source->name + "' in memory of " +
                                                   std::string(memory.name()) + ", which it can't use");
            }
        }
    }
}

} // namespace

struct Scheduler::State {
    State(std::span<const std::unique_ptr<Backend>> backends, const SchedulerOptions& o)
        : options(o), devices(backends, o.kernel_times), executor(devices, o.n_stages), buffers(o.plans_only) {}

    SchedulerOptions options;
    LiveDevices devices;
    Executor executor;
    Recorder* recorder = nullptr;
    Watcher* watcher = nullptr;

    /// What is in flight speaks of the present plan and belongs to the present evaluation: its records are written before either
    /// changes.
    void complete_records() {
        if (in_flight && recorder != nullptr) {
            executor.synchronize(recorder);
            in_flight = false;
        }
    }

    /// Waits for what is in flight.
    void complete() {
        if (in_flight) {
            in_flight = false;
            try {
                executor.synchronize(recorder);
            } catch (...) {
                executor.abandon();
                throw;
            }
        }
    }

    /// The graph as passes see it, told to the recorder with every backend's answers.
    PlanOptions describe_graph(Graph& graph);
    /// Plans the described graph and gives it its memory; `to` gets the records.
    void settle(Graph& graph, const PlanOptions& plan_options, Recorder* to);

    int next_stage = 0;
    bool in_flight = false;
    LivePlan live;
    Carry carry;
    CapabilityTable answers;
    std::vector<PlanNote> notes;
    MemoryPlanner planner;
    ComputeBuffers buffers;
};

Scheduler::Scheduler(std::span<const std::unique_ptr<Backend>> backends, const SchedulerOptions& options)
    : state_(std::make_unique<State>(backends, options)) {}

Scheduler::~Scheduler() { state_->executor.abandon(); }

void Scheduler::set_recorder(Recorder* recorder) {
    state_->recorder = recorder;
    for (auto& known : state_->live.kernels) {
        known = {}; // in another one's numbers
    }
}
Recorder* Scheduler::recorder() const noexcept { return state_->recorder; }
void Scheduler::set_watcher(Watcher* watcher) noexcept { state_->watcher = watcher; }
void Scheduler::set_observer(NodeObserver* observer) noexcept { state_->executor.set_observer(observer); }
Watcher* Scheduler::watcher() const noexcept { return state_->watcher; }
NodeObserver* Scheduler::observer() const noexcept { return state_->executor.observer(); }
const SessionInfo& Scheduler::session() const noexcept { return state_->devices.session(); }

PlanOptions Scheduler::State::describe_graph(Graph& graph) {
    undo(live);
    describe(graph, devices, live.info);
    live.tensors = graph.tensors();
    PlanOptions o;
    o.op_offload = options.op_offload;
    o.n_stages = options.n_stages;
    o.current_stage = next_stage;
    o.offload_min_batch = options.offload_min_batch;
    o.graph_id = recorder != nullptr ? recorder->number_graph() : 0;
    o.session = &devices.session();
    if (recorder != nullptr) {
        const LiveCapabilities asked(devices, live.tensors, options.offload_min_batch);
        fill_table(answers, devices.session(), asked, n_of(live.tensors));
        recorder->graph(o.graph_id, live.info.view(), answers);
    }
    return o;
}

void Scheduler::State::settle(Graph& graph, const PlanOptions& plan_options, Recorder* to) {
    const LiveCapabilities asked_live(devices, live.tensors, options.offload_min_batch);
    const Capabilities* capabilities = &asked_live;
    if (recorder != nullptr) {
        capabilities = &answers;
    }
    make_plan(live.info.view(), *capabilities, plan_options, carry, live.plan, to);
    live.graph = &graph;
    for (size_t id = 0; id < live.tensors.size(); ++id) {
        live.tensors[id]->flags = live.plan.flags[id];
    }
    mark_watched(live, devices, to != nullptr ? watcher : nullptr);
    optimise_splits(live, devices, to);
    const MemoryPlan& memory =
        planner.place(live.info.view(), live.plan, live.order, *capabilities, devices.session().buffer_types, to, live.kept);
    if (memory.replanned) {
        complete(); // buffers may be made again while evaluations of other stages still use them
    }
    buffers.assign(live, memory, devices);
}

GraphId Scheduler::record_graph(Graph& graph) {
    if (state_->recorder == nullptr) {
        throw Error(ErrorKind::usage, "scheduler: no recorder is set");
    }
    return state_->describe_graph(graph).graph_id;
}

void Scheduler::plan(Graph& graph, std::span<const PlanAlternative> alternatives) {
    State& s = *state_;
    s.complete_records();
    PlanOptions options = s.describe_graph(graph);
    if (s.recorder != nullptr) {
        s.notes.clear();
        for (const Tensor* t : s.live.tensors) {
            if (!t->why_here.empty()) {
                s.notes.push_back({t->id, t->why_here});
            }
        }
        options.notes = s.notes;
        options.alternatives = alternatives;
    }
    s.next_stage = (s.next_stage + 1) % s.options.n_stages;
    try {
        s.settle(graph, options, s.recorder);
        refuse_writes_out_of_reach(s.live, s.devices);
    } catch (const PlanError& error) {
        throw Error(ErrorKind::device, std::string("no plan for this graph: ") + error.what());
    }
}

void Scheduler::reserve(Graph& graph, int32_t n_tokens, std::span<const PlanAlternative> alternatives) {
    State& s = *state_;
    s.complete_records();
    const PlanOptions options = s.describe_graph(graph);
    std::string why_not;
    try {
        s.settle(graph, options, nullptr);
    } catch (const std::exception& error) {
        why_not = error.what();
        s.complete();
        s.planner = MemoryPlanner(); // it has sizes that there is no memory for
        s.buffers = ComputeBuffers(s.options.plans_only);
    }
    undo(s.live);
    if (s.recorder != nullptr) {
        s.recorder->add(record::Reserve{options.graph_id, n_tokens, why_not.empty() ? 0 : s.recorder->intern(why_not)});
        record_alternatives(alternatives, options.graph_id, *s.recorder);
    }
}

void Scheduler::prepare() {
    const LivePlan& live = state_->live;
    for (size_t s = 0; s < live.plan.splits.size(); ++s) {
        state_->devices.backend(live.plan.splits[s].backend).prepare(live.splits[s]);
    }
}

void Scheduler::expect(int64_t n_tokens) {
    for (BackendId b = 0; b < state_->devices.n_backends(); ++b) {
        state_->devices.backend(b).expect(n_tokens);
    }
}

void Scheduler::compute() {
    compute_async();
    synchronize();
}

void Scheduler::compute_async() {
    if (state_->live.graph == nullptr) {
        throw Error(ErrorKind::usage, "scheduler: nothing is planned");
    }
    if (state_->options.plans_only) {
        throw Error(ErrorKind::usage, "scheduler: it was made for planning, it computes nothing");
    }
    state_->complete_records();
    state_->in_flight = true;
    try {
        state_->executor.run(state_->live, state_->recorder);
    } catch (...) {
        state_->in_flight = false;
        state_->executor.abandon();
        throw;
    }
}

void Scheduler::synchronize() {
    state_->complete();
    if (state_->live.graph == nullptr) {
        state_->next_stage = 0; // a decoding loop, which synchronises after each evaluation, so keeps one plan
    }
}

void Scheduler::reset() { undo(state_->live); }

BackendId Scheduler::backend_of(const Tensor& tensor) const {
    const LivePlan& live = state_->live;
    if (live.graph == nullptr || !is_index(tensor.id, live.tensors) || live.tensors[tensor.id] != &tensor) {
        throw Error(ErrorKind::usage, "scheduler: '" + tensor.name + "' is not in the planned graph");
    }
    return live.plan.assignments[tensor.id].backend;
}

int Scheduler::n_splits() const noexcept { return n_of(state_->live.plan.splits); }
int Scheduler::n_split_inputs() const noexcept { return n_of(state_->live.plan.split_inputs); }

std::vector<int64_t> Scheduler::compute_buffer_bytes() const { return state_->buffers.bytes(); }

} // namespace schedscope
