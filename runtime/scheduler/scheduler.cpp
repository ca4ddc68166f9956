#include "runtime/scheduler/scheduler.h"

#include "runtime/error.h"
#include "runtime/scheduler/live_plan.h"

namespace schedscope {

namespace {

/// An operator in place, or one that writes into a cache, may have come to lie on another backend than the memory it writes: the passes only ask for
/// what is read (as the reference's do, which then writes out of bounds).
void refuse_writes_out_of_reach(const LivePlan& live, const LiveDevices& devices) {
    for (size_t s = 0; s < live.splits.size(); ++s) {
        const BackendId b = live.plan.splits[s].backend;
        for (const Tensor* node : live.splits[s].nodes) {
            if (node->view_source == nullptr || is_view_op(node->op) || node->buffer == nullptr) {
                continue;
            }
            // Where the backends are asked to read it, which a result in place may not be where it lies.
            const Tensor& root = *node->view_source;
            const bool allocated_before = live.info.tensors[static_cast<size_t>(root.id)].buffer_type != no_buffer_type;
            const BackendId home = live.plan.assignments[static_cast<size_t>(root.id)].backend;
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
        : options(o), devices(backends), executor(devices, o.n_stages), buffers(o.plans_only) {}

    SchedulerOptions options;
    LiveDevices devices;
    Executor executor;
    Recorder* recorder = nullptr;
    Watcher* watcher = nullptr;

    /// What is in flight speaks of the present plan and belongs to the present evaluation: its records are written before either changes.
    void complete_records() {
        if (in_flight && recorder != nullptr) {
            executor.synchronize(recorder);
            in_flight = false;
        }
    }

    GraphId next_graph = 0;
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

void Scheduler::set_recorder(Recorder* recorder) { state_->recorder = recorder; }
void Scheduler::set_watcher(Watcher* watcher) noexcept { state_->watcher = watcher; }
void Scheduler::set_observer(NodeObserver* observer) noexcept { state_->executor.set_observer(observer); }
Watcher* Scheduler::watcher() const noexcept { return state_->watcher; }
const SessionInfo& Scheduler::session() const noexcept { return state_->devices.session(); }

GraphId Scheduler::record_graph(Graph& graph) {
    State& s = *state_;
    if (s.recorder == nullptr) {
        throw Error(ErrorKind::usage, "scheduler: nobody records");
    }
    undo(s.live);
    OwnedGraph info;
    describe(graph, s.devices, info);
    const LiveCapabilities asked(s.devices, graph.tensors(), s.options.offload_min_batch);
    fill_table(s.answers, s.devices.session(), asked, static_cast<int32_t>(info.tensors.size()));
    s.recorder->graph(s.next_graph, info.view(), s.answers);
    return s.next_graph++;
}

void Scheduler::plan(Graph& graph, std::span<const PlanAlternative> alternatives) {
    State& s = *state_;
    s.complete_records();
    undo(s.live);
    LivePlan& live = s.live;
    describe(graph, s.devices, live.info);
    live.tensors = graph.tensors();

    const LiveCapabilities asked_live(s.devices, live.tensors, s.options.offload_min_batch);
    const Capabilities* capabilities = &asked_live;
    PlanOptions options;
    options.op_offload = s.options.op_offload;
    options.n_stages = s.options.n_stages;
    options.current_stage = s.next_stage;
    options.offload_min_batch = s.options.offload_min_batch;
    options.graph_id = s.next_graph;
    options.session = &s.devices.session();
    if (s.recorder != nullptr) {
        fill_table(s.answers, s.devices.session(), asked_live, static_cast<int32_t>(live.tensors.size()));
        s.recorder->graph(s.next_graph, live.info.view(), s.answers);
        capabilities = &s.answers;
        s.notes.clear();
        for (const Tensor* t : live.tensors) {
            if (!t->why_here.empty()) {
                s.notes.push_back({t->id, t->why_here});
            }
        }
        options.notes = s.notes;
        options.alternatives = alternatives;
    }
    ++s.next_graph;
    s.next_stage = (s.next_stage + 1) % s.options.n_stages;
    try {
        make_plan(live.info.view(), *capabilities, options, s.carry, live.plan, s.recorder);
        live.graph = &graph;
        for (size_t id = 0; id < live.tensors.size(); ++id) {
            live.tensors[id]->flags = live.plan.flags[id];
        }
        mark_watched(live, s.devices, s.recorder != nullptr ? s.watcher : nullptr);
        optimise_splits(live, s.devices, s.recorder);
        const MemoryPlan& memory = s.planner.place(live.info.view(), live.plan, live.order, *capabilities,
                                                   s.devices.session().buffer_types, s.recorder, live.kept);
        if (memory.replanned) {
            synchronize(); // buffers may be made anew while evaluations of other stages still use them
        }
        s.buffers.assign(live, memory, s.devices);
        refuse_writes_out_of_reach(live, s.devices);
    } catch (const PlanError& error) {
        throw Error(ErrorKind::device, std::string("no plan for this graph: ") + error.what());
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
    if (state_->in_flight) {
        state_->in_flight = false;
        try {
            state_->executor.synchronize(state_->recorder);
        } catch (...) {
            state_->executor.abandon();
            throw;
        }
    }
    if (state_->live.graph == nullptr) {
        state_->next_stage = 0; // a decoding loop, which synchronises after each evaluation, so keeps one plan
    }
}

void Scheduler::reset() { undo(state_->live); }

BackendId Scheduler::backend_of(const Tensor& tensor) const {
    const LivePlan& live = state_->live;
    if (live.graph == nullptr || tensor.id < 0 || static_cast<size_t>(tensor.id) >= live.tensors.size() ||
        live.tensors[static_cast<size_t>(tensor.id)] != &tensor) {
        throw Error(ErrorKind::usage, "scheduler: '" + tensor.name + "' is not in the planned graph");
    }
    return live.plan.assignments[static_cast<size_t>(tensor.id)].backend;
}

int Scheduler::n_splits() const noexcept { return static_cast<int>(state_->live.plan.splits.size()); }
int Scheduler::n_split_inputs() const noexcept { return static_cast<int>(state_->live.plan.split_inputs.size()); }

std::vector<int64_t> Scheduler::compute_buffer_bytes() const { return state_->buffers.bytes(); }

} // namespace schedscope
