#include "runtime/scheduler/executor.h"

#include "runtime/backend/op_cost.h"
#include "runtime/numbers.h"

#include <algorithm>
#include <utility>

namespace schedscope {

Executor::Executor(LiveDevices& devices, int n_stages) : devices_(devices) {
    for (BackendId b = 0; b < devices.n_backends(); ++b) {
        auto& stages = events_.emplace_back();
        for (int stage = 0; n_stages > 1 && stage < n_stages; ++stage) {
            stages.push_back({devices.backend(b).make_event()});
        }
        order_.push_back(devices.backend(b).make_event());
    }
    busy_.resize(devices.n_backends(), 0);
}

Executor::StageEvent* Executor::event(BackendId backend, int stage) noexcept {
    auto& stages = events_[backend];
    return is_index(stage, stages) && stages[stage].event != nullptr ? &stages[stage] : nullptr;
}

/// Several splits may have been queued before one is waited for: from its start to the wait is not the time of any.
void Executor::take_device_times(Pending& p) noexcept {
    const KernelLog& log = p.log;
    if (log.spanned && log.end_ns > 0) {
        p.start_ns = log.start_ns;
        p.end_ns = log.end_ns;
    } else if (!p.in_pieces && !log.kernels.empty() && log.kernels.back().end_ns > 0) {
        p.start_ns = log.kernels.front().start_ns;
        p.end_ns = log.kernels.back().end_ns;
    }
}

void Executor::forget_queued(BackendId backend) noexcept {
    busy_[backend] = 0;
    for (StageEvent& read : events_[backend]) {
        read.recorded = false;
    }
}

void Executor::wait(BackendId backend, int32_t split, Recorder* recorder) {
    if (busy_[backend] == 0) {
        return;
    }
    const int64_t start = recorder != nullptr ? now_ns() : 0;
    devices_.backend(backend).synchronize();
    forget_queued(backend);
    if (recorder == nullptr) {
        return;
    }
    const int64_t end = now_ns();
    for (size_t i = first_pending_; i < end_pending_; ++i) {
        if (Pending& p = pending_[i]; p.backend == backend && !p.complete) {
            p.complete = true;
            p.end_ns = p.timed ? end : 0;
            take_device_times(p);
        }
    }
    recorder->add(record::Wait{split, backend, start, end, 0});
}

void Executor::wait(StageEvent& read, BackendId backend, int32_t split, Recorder* recorder) {
    if (!std::exchange(read.recorded, false)) {
        return;
    }
    const int64_t start = recorder != nullptr ? now_ns() : 0;
    devices_.backend(backend).synchronize(*read.event);
    if (recorder != nullptr) {
        recorder->add(record::Wait{split, backend, start, now_ns(), 0});
    }
}

void Executor::order_after(BackendId previous, BackendId next, int32_t split, Recorder* recorder) {
    if (previous == next || busy_[previous] == 0) {
        return;
    }
    Event* done = order_[previous].get();
    if (done != nullptr && &devices_.device(previous) == &devices_.device(next)) {
        devices_.backend(previous).record(*done);
        devices_.backend(next).wait(*done);
    } else {
        wait(previous, split, recorder);
    }
}

void Executor::order_after_sharers(const BufferType& memory, BackendId next, int32_t split, bool queued, Recorder* recorder) {
    for (BackendId b = 0; b < devices_.n_backends(); ++b) {
        if (b == next || busy_[b] == 0 || !devices_.device(b).supports_buffer_type(memory)) {
            continue;
        }
        if (queued) {
            order_after(b, next, split, recorder);
        } else {
            wait(b, split, recorder);
        }
    }
}

void Executor::copy_input(LivePlan& live, int32_t index, TensorId input, Recorder* recorder) {
    const Plan& plan = live.plan;
    const BackendId to = plan.splits[index].backend;
    const BackendId from = plan.assignments[input].backend;
    const Copy& copy = plan.copies[plan.find_copies(input, to) + plan.current_stage];
    Tensor& source = live.tensor(input);
    Tensor& target = live.tensor(copy.id);
    Backend& backend = devices_.backend(to);
    const bool from_user = (source.flags & flag_input) != 0;

    record::Transfer fact;
    fact.split = index;
    fact.tensor = input;
    fact.copy = copy.id;
    fact.from = from;
    fact.to = to;
    fact.bytes = n_bytes(source);

    // The copy may still be read by what was queued before. A copy on the queue itself comes after that anyway.
    ExpertUse experts = used_experts(live.splits[index], source, target);
    if (experts.total > 0 && experts.ids->id >= plan.n_tensors) {
        // The ids are an input of this split too, copied behind the weights: what they are is where they come from.
        experts.ids = &live.tensor(plan.copies[experts.ids->id - plan.n_tensors].of);
    }
    const bool constant = source.buffer->usage == BufferUsage::weights;
    const bool queued =
        !from_user && !devices_.is_host(to) && experts.total == 0 && (constant || &devices_.device(from) == &devices_.device(to));
    fact.start_ns = recorder != nullptr ? now_ns() : 0;
    const bool shares = plan.n_stages == 1; // with more stages copies have memory of their own
    if (queued) {
        order_after(from, to, index, recorder);
        if (shares) {
            order_after_sharers(target.buffer->type(), to, index, true, recorder);
        }
        fact.async = backend.copy_async(source, target);
        busy_[to] |= fact.async;
    }
    if (!fact.async) {
        if (StageEvent* read = event(to, plan.current_stage)) {
            wait(*read, to, index, recorder);
        } else {
            wait(to, index, recorder);
        }
        wait(from, index, recorder);
        if (shares) {
            order_after_sharers(target.buffer->type(), to, index, false, recorder);
        }
        fact.start_ns = recorder != nullptr ? now_ns() : 0;
        if (experts.total > 0) {
            for (BackendId b = 0; b < devices_.n_backends(); ++b) {
                wait(b, index, recorder); // the ids may come from any of them
            }
            const CopiedExperts copied = copy_used_experts(experts, source, target, expert_scratch_);
            fact.bytes = copied.bytes;
            fact.experts = static_cast<int16_t>(copied.count);
            fact.experts_total = static_cast<int16_t>(experts.total);
        } else {
            tensor_copy(source, target);
        }
    }
    if (recorder != nullptr) {
        fact.end_ns = now_ns();
        recorder->add(fact);
    }
}

namespace {

bool has_watched(const SplitGraph& graph) noexcept {
    return std::any_of(graph.nodes.begin(), graph.nodes.end(), [](const Tensor* t) { return (t->flags & flag_watched) != 0; });
}

} // namespace

/// That shaders were compiled first is a wait of its own, and no part of the split.
void Executor::compute(const SplitGraph& graph, int32_t first, int32_t count, Backend& backend, Pending* pending,
                       Recorder* recorder) {
    if (pending == nullptr || !pending->logs) {
        backend.compute(graph, first, count, nullptr);
        return;
    }
    pending->log.compilation = {};
    backend.compute(graph, first, count, &pending->log);
    if (const Compilation& c = pending->log.compilation; c.n_shaders > 0) {
        recorder->add(record::Wait{pending->split, pending->backend, c.start_ns, c.end_ns, c.n_shaders});
        pending->start_ns = pending->timed && first == 0 ? c.end_ns : pending->start_ns;
    }
}

/// Node by node when it is stepped so, else in ranges that end at each watched node. Groups stay whole: no watched node lies
/// inside one.
void Executor::run_pieces(LivePlan& live, const SplitGraph& graph, Backend& backend, Pending& pending, Recorder& recorder) {
    const bool each_node = recorder.grain() == Recorder::Grain::node;
    const auto count = int_of(graph.nodes.size());
    auto group = graph.groups.begin();
    int32_t first = 0;
    for (int32_t node = 0; node < count;) {
        node += group != graph.groups.end() && group->first == node ? (group++)->count : 1;
        const Tensor& last = *graph.nodes[node - 1];
        const bool watched = (last.flags & flag_watched) != 0;
        if (!watched && !each_node && node < count) {
            continue;
        }
        compute(graph, first, node - first, backend, &pending, &recorder);
        backend.synchronize();
        write_complete(live, recorder);
        if (watched) {
            record_values(last, recorder);
        }
        first = node;
    }
}

/// Each node alone, unfused, with an observer before and after: what is recorded of a node comes before what the observer has to
/// say of it.
void Executor::run_observed(LivePlan& live, const SplitGraph& graph, BackendId id, Pending* pending, Recorder* recorder) {
    Backend& backend = devices_.backend(id);
    for (size_t i = 0; i < graph.nodes.size(); ++i) {
        const Tensor& node = *graph.nodes[i];
        observer_->before(node, id);
        compute(graph, int_of(i), 1, backend, pending, recorder);
        backend.synchronize();
        if (recorder != nullptr) {
            write_complete(live, *recorder);
            if ((node.flags & flag_watched) != 0) {
                record_values(node, *recorder);
            }
        }
        observer_->after(node, id);
    }
}

void Executor::run_split(LivePlan& live, int32_t index, Recorder* recorder) {
    const Split& split = live.plan.splits[index];
    const SplitGraph& graph = live.splits[index];
    Backend& backend = devices_.backend(split.backend);
    const auto grain = recorder != nullptr ? recorder->grain() : Recorder::Grain::graph;
    const bool watched = recorder != nullptr && (grain == Recorder::Grain::node || (live.watched && has_watched(graph)));
    const bool in_pieces = watched || observer_ != nullptr;
    for (BackendId b = 0; in_pieces && b < devices_.n_backends(); ++b) {
        wait(b, index, recorder); // so that the records of what ran before come before those of the pieces
    }

    Pending* pending = nullptr;
    if (recorder != nullptr) {
        const KernelTimes level = devices_.kernel_times(split.backend);
        pending = &add_pending();
        pending->split = index;
        pending->backend = split.backend;
        pending->complete = false;
        pending->in_pieces = in_pieces;
        // A piece that is waited for is timed at any level.
        pending->log.timed = level == KernelTimes::kernels || in_pieces;
        pending->timed = pending->log.timed || level == KernelTimes::splits;
        pending->log.spanned = pending->timed && !pending->log.timed && !devices_.is_host(split.backend);
        pending->log.start_ns = pending->log.end_ns = 0;
        pending->start_ns = pending->timed ? now_ns() : 0;
        // Without times there is nothing to ask of a backend that runs the kernels of the evaluation before.
        pending->logs = pending->log.timed || pending->log.spanned || live.kernels[index].all == nullptr;
    }
    if (observer_ != nullptr) {
        run_observed(live, graph, split.backend, pending, recorder);
    } else if (in_pieces) {
        run_pieces(live, graph, backend, *pending, *recorder);
    } else {
        compute(graph, 0, n_of(graph.nodes), backend, pending, recorder);
    }
    busy_[split.backend] = devices_.is_host(split.backend) ? 0 : 1;
    if (StageEvent* read = event(split.backend, live.plan.current_stage); read != nullptr && split.n_inputs > 0) {
        backend.record(*read->event);
        read->recorded = true;
    }
    if (pending == nullptr) {
        return;
    }
    if (devices_.is_host(split.backend)) {
        pending->complete = true;
        pending->end_ns = pending->timed ? now_ns() : 0;
    } else if (in_pieces || grain != Recorder::Grain::graph) {
        wait(split.backend, index, recorder);
    }
    write_complete(live, *recorder);
}

Executor::Pending& Executor::add_pending() {
    if (first_pending_ == end_pending_) {
        first_pending_ = end_pending_ = 0;
    }
    if (end_pending_ == pending_.size()) {
        pending_.emplace_back();
    }
    return pending_[end_pending_++];
}

namespace {

KernelInfo describe(const SplitGraph& graph, const KernelTime& kernel, Recorder& recorder) {
    const auto nodes = std::span<Tensor* const>(graph.nodes).subspan(kernel.first, kernel.count);
    KernelInfo info{
        nodes.front()->id, nodes.back()->id, narrow<int16_t>(kernel.count), recorder.intern(kernel.kernel), op_bytes(nodes), 0};
    for (const Tensor* node : nodes) {
        info.flops += op_flops(*node);
    }
    return info;
}

bool same_kernel(const KernelTime& a, const KernelTime& b) noexcept {
    return a.first == b.first && a.count == b.count && a.kernel.data() == b.kernel.data();
}

} // namespace

/// What is known of the kernels that ran; null: none did. An evaluation of a reused plan runs those of the one before, so that
/// their list is kept.
std::shared_ptr<const KernelList> Executor::list_of(LivePlan& live, const Pending& pending, Recorder& recorder) {
    const SplitGraph& graph = live.splits[pending.split];
    const std::vector<KernelTime>& ran = pending.log.kernels;
    LivePlan::SplitKernels& known = live.kernels[pending.split];
    if (ran.empty()) {
        return pending.log.timed ? nullptr : known.all;
    }
    known.from.resize(graph.nodes.size());
    LivePlan::KnownKernels& k = known.from[ran.front().first];
    if (!std::equal(ran.begin(), ran.end(), k.ran.begin(), k.ran.end(), same_kernel)) {
        KernelList list;
        for (const KernelTime& kernel : ran) {
            list.push_back(describe(graph, kernel, recorder));
        }
        k = {ran, std::make_shared<const KernelList>(std::move(list))};
    }
    if (!pending.log.timed) {
        known.all = k.list;
    }
    return k.list;
}

void Executor::write_part(LivePlan& live, Pending& p, Recorder& recorder) {
    SplitPart part;
    part.split = p.split;
    part.backend = p.backend;
    part.device_time = !devices_.is_host(p.backend);
    part.last = p.complete;
    part.kernels = list_of(live, p, recorder);
    part.count = part.kernels != nullptr ? n_of(*part.kernels) : 0;
    spans_.clear();
    for (const KernelTime& k : p.log.kernels) {
        if (p.log.timed) {
            spans_.push_back({k.start_ns, k.end_ns});
        }
    }
    part.times = spans_;
    if (p.timed) {
        part.start_ns = p.complete ? p.start_ns : spans_.front().start_ns;
        part.end_ns = p.complete ? p.end_ns : spans_.back().end_ns;
    }
    p.log.kernels.clear();
    recorder.add(part);
}

void Executor::write_complete(LivePlan& live, Recorder& recorder) {
    for (; first_pending_ < end_pending_; ++first_pending_) {
        Pending& p = pending_[first_pending_];
        // The kernels of a split that is run in pieces are known before the split is complete.
        const bool known = p.in_pieces && !p.log.kernels.empty();
        if (p.complete || known) {
            write_part(live, p, recorder);
        }
        if (!p.complete) {
            return;
        }
    }
}

void Executor::record_leafs(LivePlan& live, Recorder& recorder) {
    for (const TensorId id : live.watched_leafs) {
        for (BackendId b = 0; b < devices_.n_backends(); ++b) {
            wait(b, -1, &recorder); // an evaluation before may still write to a cache
        }
        record_values(live.tensor(id), recorder);
    }
}

void Executor::abandon() noexcept {
    for (BackendId b = 0; b < devices_.n_backends(); ++b) {
        try {
            devices_.backend(b).synchronize();
        } catch (...) { // the one that failed
        }
        forget_queued(b);
    }
    for (Pending& p : pending_) {
        p.log.kernels.clear();
    }
    first_pending_ = end_pending_ = 0;
    running_ = nullptr;
}

void Executor::run(LivePlan& live, Recorder* recorder) {
    running_ = &live;
    if (observer_ != nullptr) {
        observer_->begin_evaluation();
    }
    if (recorder != nullptr) {
        recorder->add(record::PassBegin{Pass::execute});
        record_leafs(live, *recorder);
    }
    entered_.assign(busy_.size(), 0);
    for (size_t s = 0; s < live.plan.splits.size(); ++s) {
        const Split& split = live.plan.splits[s];
        if (uint8_t& entered = entered_[split.backend]; entered == 0) {
            entered = 1; // an evaluation before this one may still use the same memory from another queue
            order_after_sharers(devices_.device(split.backend).buffer_type(), split.backend, int_of(s), true, recorder);
        }
        for (int32_t i = 0; i < split.n_inputs; ++i) {
            copy_input(live, int_of(s), live.plan.split_inputs[split.first_input + i], recorder);
        }
        if (s > 0) {
            order_after(live.plan.splits[s - 1].backend, split.backend, int_of(s), recorder);
        }
        run_split(live, int_of(s), recorder);
    }
}

void Executor::synchronize(Recorder* recorder) {
    for (BackendId b = 0; b < devices_.n_backends(); ++b) {
        wait(b, -1, recorder);
    }
    if (recorder != nullptr && running_ != nullptr) {
        write_complete(*running_, *recorder);
        recorder->add(record::PassEnd{Pass::execute});
    }
    running_ = nullptr;
}

} // namespace schedscope
