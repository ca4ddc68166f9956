// The functions of ggml that the program calls, in front of the real ones. Each finds its real one by who calls, and never holds
// a lock around it. What is not understood is passed on and left alone.

#include "traces/attach/joining/adoption.h"
#include "traces/attach/joining/patching.h"
#include "traces/attach/open_calls.h"
#include "traces/attach/optimiser_slot.h"
#include "traces/attach/plan.h"
#include "traces/attach/stepping.h"
#include "traces/attach/watching.h"

#include <errno.h>

namespace schedscope::attach {

namespace {

using OpenPlan = OpenCall<PlanCall>;
using OpenRun = OpenCall<RunCall>;

template <typename Function> Function* real(Fn which, void* caller) {
    return reinterpret_cast<Function*>(real_function(which, caller));
}
/// What it would do is not known where it is not there: a program that looks whether a function is there finds ours.
#define SCHEDSCOPE_REAL(name, function) auto* const function = real<decltype(name)>(Fn::name, __builtin_return_address(0))

/// The program sees errno as its own calls left it.
class KeptErrno {
public:
    KeptErrno() : kept_(errno) {}
    ~KeptErrno() { errno = kept_; }
    KeptErrno(const KeptErrno&) = delete;
    KeptErrno& operator=(const KeptErrno&) = delete;

private:
    int kept_;
};

/// Plans a graph with `plan()`, or is a part of a call that does.
template <typename F> auto planned(Sched* object, Graph* graph, Purpose purpose, bool splits, const F& plan) {
    PlanCall* const outer = OpenPlan::innermost();
    const bool nested = splits && outer != nullptr && outer->scheduler->object == object;
    const OpenPlan open(nested ? nullptr : object, true, __builtin_frame_address(0));
    PlanCall* const own = nested ? outer : open.get();
    if (own == nullptr) {
        return plan();
    }
    if (!nested) {
        own->graph = graph;
        own->purpose = purpose;
        own->is_reserve = purpose != Purpose::run;
        const KeptErrno kept;
        stop_before_plan(*own->scheduler);
    }
    GgmlCopy& ggml = *own->scheduler->ggml;
    const bool splits_itself = ggml.call.ggml_backend_sched_split_graph == nullptr || ggml.splits_unseen;
    if (splits || (!nested && splits_itself)) { // from here on the graph is as the scheduler sees it
        const KeptErrno kept;
        own->graph = graph;
        record_graph(*own);
    }
    struct Done {
        const OpenPlan& open;
        bool splits, nested;
        void operator()(bool succeeded) const {
            const KeptErrno kept;
            PlanCall* const own = nested ? OpenPlan::innermost() : open.get();
            if (own == nullptr) {
                return;
            }
            if (splits) {
                record_result(*own);
            }
            if (!nested) {
                own->scheduler->ggml->splits_unseen |= !own->looked_at && succeeded;
                send_plan(*own, succeeded);
            }
        }
    } const done{open, splits, nested};
    if constexpr (!__is_same(decltype(plan()), void)) {
        const bool succeeded = plan();
        done(succeeded);
        return succeeded;
    } else {
        plan();
        done(true);
    }
}

/// `call()`, timed, of whatever is called within a run; `record` is given the run and the time.
template <typename F, typename R> auto timed(const F& call, const R& record) {
    RunCall* const run = OpenRun::innermost();
    if (run == nullptr || run->depth > 0) {
        return call();
    }
    {
        const KeptErrno kept;
        stop_before_split(*run);
    }
    struct Within {
        RunCall* run;
        const R& record;
        int64_t start;
        void operator()() const {
            const KeptErrno kept;
            if (OpenRun::innermost() == run) {
                --run->depth;
                record(*run, Timed{start, now_ns()});
            }
        }
    };
    ++run->depth;
    const Within done{run, record, now_ns()};
    if constexpr (!__is_same(decltype(call()), void)) {
        const auto result = call();
        done();
        return result;
    } else {
        call();
        done();
    }
}

/// ggml's callback where somebody watches, in front of the program's own.
bool observe(Tensor* node, bool ask, void* data) {
    Scheduler& s = *static_cast<Scheduler*>(data);
    if (ask) {
        s.own_wants = s.own_callback != nullptr && s.own_callback(node, true, s.own_data);
        const KeptErrno kept;
        return is_watched(s, node) || s.own_wants;
    }
    if (RunCall* const run = OpenRun::innermost(); run != nullptr && run->scheduler == &s) {
        const KeptErrno kept;
        if (is_watched(s, node)) {
            ++run->depth; // what reading it takes is not the program's
            record_value(*run, node);
            --run->depth;
            stop_in_run(*run);
        }
    }
    return !s.own_wants || s.own_callback(node, false, s.own_data);
}

void watch(Scheduler& s) {
    if (watches() && s.ggml->call.ggml_backend_sched_set_eval_callback != nullptr) {
        s.ggml->call.ggml_backend_sched_set_eval_callback(s.object, observe, &s);
    }
}

} // namespace

PlanCall* current_plan_call(const void* here) { return OpenPlan::innermost(here); }

extern "C" {

SCHEDSCOPE_EXPORTED Sched* ggml_backend_sched_new(Backend** backends, BufferType** types, int n, size_t graph_size, bool parallel,
                                                  bool op_offload) {
    SCHEDSCOPE_REAL(ggml_backend_sched_new, make); // older ones have five arguments, and don't see the last
    Sched* const made = make == nullptr ? nullptr : make(backends, types, n, graph_size, parallel, op_offload);
    const KeptErrno kept;
    const Recording recording;
    if (made != nullptr && (recording.is_open() || open_channel())) {
        if (GgmlCopy* const ggml = copy_of(reinterpret_cast<const void*>(make))) {
            const bool has_argument = ggml->call.ggml_version != nullptr; // for certain
            Scheduler* const s =
                add_scheduler(*ggml, made, types, graph_size, has_argument ? static_cast<int>(op_offload) : SSCP_UNKNOWN_32);
            if (s != nullptr) {
                watch(*s);
            }
        }
    }
    return made;
}

SCHEDSCOPE_EXPORTED void ggml_backend_sched_free(Sched* sched) {
    {
        const KeptErrno kept;
        const Recording recording;
        if (recording.is_open()) {
            remove_scheduler(sched);
        }
    }
    SCHEDSCOPE_REAL(ggml_backend_sched_free, free_it);
    if (free_it != nullptr) {
        free_it(sched);
    }
}

SCHEDSCOPE_EXPORTED void ggml_backend_free(Backend* backend) {
    {
        const KeptErrno kept;
        forget_optimiser(backend);
    }
    SCHEDSCOPE_REAL(ggml_backend_free, free_it);
    if (free_it != nullptr) {
        free_it(backend);
    }
}

SCHEDSCOPE_EXPORTED void ggml_backend_sched_set_eval_callback(Sched* sched, EvalCallback* callback, void* data) {
    SCHEDSCOPE_REAL(ggml_backend_sched_set_eval_callback, set);
    if (set == nullptr) {
        return;
    }
    const UsedScheduler used(sched);
    if (Scheduler* const s = used.get()) {
        s->own_callback = callback;
        s->own_data = data;
        if (watches()) {
            set(sched, observe, s);
            return;
        }
    }
    set(sched, callback, data);
}

SCHEDSCOPE_EXPORTED bool ggml_backend_sched_reserve(Sched* sched, Graph* graph) {
    SCHEDSCOPE_REAL(ggml_backend_sched_reserve, reserve);
    meet(sched, graph, Sight::plans, __builtin_return_address(0));
    return planned(sched, graph, Purpose::memory, false, [&]() -> bool { return reserve != nullptr && reserve(sched, graph); });
}

SCHEDSCOPE_EXPORTED void ggml_backend_sched_reserve_size(Sched* sched, Graph* graph, size_t* sizes) {
    SCHEDSCOPE_REAL(ggml_backend_sched_reserve_size, reserve);
    meet(sched, graph, Sight::plans, __builtin_return_address(0));
    planned(sched, graph, Purpose::sizes, false, [&]() -> void {
        if (reserve != nullptr) {
            reserve(sched, graph, sizes);
        }
    });
}

SCHEDSCOPE_EXPORTED bool ggml_backend_sched_alloc_graph(Sched* sched, Graph* graph) {
    SCHEDSCOPE_REAL(ggml_backend_sched_alloc_graph, alloc);
    meet(sched, graph, Sight::plans, __builtin_return_address(0));
    const bool succeeded =
        planned(sched, graph, Purpose::run, false, [&]() -> bool { return alloc != nullptr && alloc(sched, graph); });
    meet(sched, graph, Sight::planned, __builtin_return_address(0));
    return succeeded;
}

SCHEDSCOPE_EXPORTED void ggml_backend_sched_split_graph(Sched* sched, Graph* graph) {
    SCHEDSCOPE_REAL(ggml_backend_sched_split_graph, split);
    meet(sched, graph, Sight::plans, __builtin_return_address(0));
    planned(sched, graph, Purpose::sizes, true, [&]() -> void {
        if (split != nullptr) {
            split(sched, graph);
        }
    });
}

SCHEDSCOPE_EXPORTED bool ggml_gallocr_reserve_n(Gallocr* allocator, Graph* graph, const int* nodes, const int* leafs) {
    SCHEDSCOPE_REAL(ggml_gallocr_reserve_n, reserve);
    if (PlanCall* const plan = current_plan_call()) {
        const KeptErrno kept;
        record_result(*plan);
        record_keeps(*plan, graph);
        ++plan->scheduler->allocations;
        plan->scheduler->memory_unseen &= plan->is_reserve; // else the plan that follows from it is in the same block
    }
    return reserve != nullptr && reserve(allocator, graph, nodes, leafs);
}

SCHEDSCOPE_EXPORTED void ggml_gallocr_reserve_n_size(Gallocr* allocator, Graph* graph, const int* nodes, const int* leafs,
                                                     size_t* sizes) {
    SCHEDSCOPE_REAL(ggml_gallocr_reserve_n_size, reserve);
    if (PlanCall* const plan = current_plan_call()) {
        const KeptErrno kept;
        record_result(*plan);
        record_keeps(*plan, graph);
    }
    if (reserve != nullptr) {
        reserve(allocator, graph, nodes, leafs, sizes);
    }
}

SCHEDSCOPE_EXPORTED bool ggml_gallocr_alloc_graph(Gallocr* allocator, Graph* graph) {
    SCHEDSCOPE_REAL(ggml_gallocr_alloc_graph, alloc);
    PlanCall* const plan = current_plan_call();
    if (plan == nullptr) {
        return alloc != nullptr && alloc(allocator, graph);
    }
    {
        const KeptErrno kept;
        record_result(*plan);
        record_keeps(*plan, graph);
    }
    const bool succeeded = alloc != nullptr && alloc(allocator, graph);
    const KeptErrno kept;
    if (succeeded) {
        record_places(*plan);
    }
    return succeeded;
}

SCHEDSCOPE_EXPORTED Buffer* ggml_backend_buft_alloc_buffer(BufferType* type, size_t size) {
    SCHEDSCOPE_REAL(ggml_backend_buft_alloc_buffer, alloc);
    Buffer* const buffer = alloc == nullptr ? nullptr : alloc(type, size);
    PlanCall* const plan = current_plan_call();
    if (plan != nullptr && buffer != nullptr) {
        const KeptErrno kept;
        record_buffer(*plan, buffer, type, size);
    }
    return buffer;
}

/// A graph by value: whatever its size, it is built where the caller wants it.
struct GraphByValue {
    char bytes[64];
};
SCHEDSCOPE_EXPORTED GraphByValue ggml_graph_view(Graph* graph, int first, int end) {
    SCHEDSCOPE_REAL(ggml_graph_view, view);
    if (PlanCall* const plan = current_plan_call()) {
        const KeptErrno kept;
        record_split(*plan, graph, first, end);
    }
    return view(graph, first, end);
}

SCHEDSCOPE_EXPORTED int ggml_backend_sched_graph_compute_async(Sched* sched, Graph* graph) {
    SCHEDSCOPE_REAL(ggml_backend_sched_graph_compute_async, compute);
    meet(sched, graph, Sight::computes, __builtin_return_address(0));
    const RunCall* const outer = OpenRun::innermost();
    const bool is_own = outer == nullptr || outer->is_waiting || outer->scheduler->object == sched; // else a backend's
    const OpenRun open(is_own ? sched : nullptr, true, __builtin_frame_address(0));
    if (RunCall* const call = open.get()) {
        const KeptErrno kept;
        begin_run(*call);
    }
    const int status = compute(sched, graph);
    if (RunCall* const call = open.get()) {
        const KeptErrno kept;
        end_run(*call, status);
    }
    return status;
}

SCHEDSCOPE_EXPORTED void ggml_backend_sched_synchronize(Sched* sched) {
    SCHEDSCOPE_REAL(ggml_backend_sched_synchronize, synchronize);
    const bool is_within = OpenRun::innermost() != nullptr || OpenPlan::innermost() != nullptr;
    const OpenRun open(is_within ? nullptr : sched, false, __builtin_frame_address(0));
    if (RunCall* const call = open.get()) {
        call->is_waiting = true;
    }
    synchronize(sched);
    if (RunCall* const call = open.get()) {
        const KeptErrno kept;
        end_wait(*call);
    }
}

SCHEDSCOPE_EXPORTED int ggml_backend_graph_compute_async(Backend* backend, Graph* graph) {
    SCHEDSCOPE_REAL(ggml_backend_graph_compute_async, compute);
    return timed(
        [&] {
            const int status = compute(backend, graph);
            RunCall* const run = waits_exactly() ? OpenRun::innermost() : nullptr;
            if (run != nullptr && run->depth == 1) { // the program waits for the split's end: of its time, not idle
                const KeptErrno kept;
                const int64_t start = now_ns();
                run->scheduler->ggml->call.ggml_backend_synchronize(backend);
                record_wait(*run, backend, {start, now_ns()});
            }
            return status;
        },
        [&](RunCall& run, Timed time) { record_split_run(run, backend, graph, time); });
}

SCHEDSCOPE_EXPORTED void ggml_backend_tensor_copy(Tensor* from, Tensor* to) {
    SCHEDSCOPE_REAL(ggml_backend_tensor_copy, copy);
    timed([&] { copy(from, to); }, [&](RunCall& run, Timed time) { record_copy(run, to, time); });
}

SCHEDSCOPE_EXPORTED void ggml_backend_tensor_set_async(Backend* backend, Tensor* tensor, const void* data, size_t offset,
                                                       size_t size) {
    SCHEDSCOPE_REAL(ggml_backend_tensor_set_async, set);
    timed([&] { set(backend, tensor, data, offset, size); },
          [&](RunCall& run, Timed time) { record_part_of_copy(run, tensor, size, time); });
}

SCHEDSCOPE_EXPORTED void ggml_backend_synchronize(Backend* backend) {
    SCHEDSCOPE_REAL(ggml_backend_synchronize, synchronize);
    timed([&] { synchronize(backend); }, [&](RunCall& run, Timed time) { record_wait(run, backend, time); });
}

} // extern "C"

void* hook_of(Fn function) {
    static void* const hooks[] = {
#define F(name) reinterpret_cast<void*>(&(name)),
        SCHEDSCOPE_WATCHED(F)
#undef F
    };
    return hooks[static_cast<int>(function)];
}

} // namespace schedscope::attach
