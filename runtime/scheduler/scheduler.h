#pragma once

#include "runtime/backend/device.h"
#include "runtime/planner/records.h"
#include "runtime/tensor/graph.h"

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace schedscope {

class NodeObserver;
class Recorder;
class Watcher;

struct SchedulerOptions {
    bool op_offload = true;
    int64_t offload_min_batch = 32;
    int n_stages = 1;                             ///< 1, or 4 for pipeline copies
    bool plans_only = false;                      ///< nothing will be computed: compute buffers have sizes and no memory
    std::optional<KernelTimes> kernel_times = {}; ///< that are recorded; absent: kernels of CPU and BLAS, splits of other devices
};

/// Runs graphs on several backends: describes the graph, plans it (passes 1 to 5), lets each backend optimise its splits, plans
/// memory, allocates, and executes split by split with the copies between them. Everything it does is written to the recorder, if
/// there is one.
///
/// One graph at a time: `plan(graph)`, then fill the graph's inputs with tensor_write, then `compute()`; `compute` may be called
/// again for the same graph (graph reuse). The graph must stay alive and unchanged until the next `plan` or `reset`.
class Scheduler {
public:
    /// `backends` by priority, the last one a CPU; they and their devices outlive the scheduler.
    Scheduler(std::span<const std::unique_ptr<Backend>> backends, const SchedulerOptions& options);
    ~Scheduler();
    Scheduler(const Scheduler&) = delete;
    Scheduler& operator=(const Scheduler&) = delete;

    /// Null: records off. Backends and buffer types are numbered as in `session()`.
    void set_recorder(Recorder* recorder);
    Recorder* recorder() const noexcept;
    /// Null: none watches. Effective from the next plan on, while there is a recorder.
    void set_watcher(Watcher* watcher) noexcept;
    Watcher* watcher() const noexcept;
    /// Null: none looks at single nodes. Effective from the next `compute` on.
    void set_observer(NodeObserver* observer) noexcept;
    NodeObserver* observer() const noexcept;
    /// backends and buffer types filled in; `facts` are the caller's to add before Recorder::session.
    const SessionInfo& session() const noexcept;

    /// Throws Error(device) with the planner's sentence when no plan is possible, or naming buffer type and bytes when there is
    /// no memory. alternatives: what `record_graph` gave for the graphs that other settings would have led to.
    void plan(Graph& graph, std::span<const PlanAlternative> alternatives = {});
    /// Plans a graph of the largest shape for its memory alone: the compute buffers get what it needs, and graphs that come later
    /// are placed as it was while they fit, so that neither sizes nor places change from then on. Recorded as record::Reserve
    /// with the next plan's buffers. Nothing can be computed until the next plan. Where it can't be planned, or there is no such
    /// memory, buffers grow when they must; the record says why.
    void reserve(Graph& graph, int32_t n_tokens, std::span<const PlanAlternative> alternatives = {});
    /// Describes a graph to the recorder, with every backend's answers, and does no more: for questions asked later. Returns its
    /// number in the records. Not between `plan` and the last use of that plan: tensors that the graphs share get other numbers.
    GraphId record_graph(Graph& graph);
    /// Does for the planned graph what backends do once and for all before they compute: shaders are compiled. Computes and
    /// records nothing. Throws Error(device).
    void prepare();
    /// Tells the backends how many tokens the evaluations from here on have (Backend::expect).
    void expect(int64_t n_tokens);
    /// Runs the planned graph; returns when it is complete. Throws Error(device).
    void compute();
    /// The same in two halves, so that evaluations can overlap in a pipeline of stages. With a recorder they don't: the records
    /// of one are complete before the next is planned or computed.
    void compute_async();
    void synchronize();
    /// Forgets the planned graph (its tensors are about to go away). Capacities, memory and the like stay, as in ggml.
    void reset();

    /// Which backend a tensor of the planned graph runs on or lies on.
    BackendId backend_of(const Tensor& tensor) const;
    /// Number of splits and of split inputs of the last plan.
    int n_splits() const noexcept;
    int n_split_inputs() const noexcept;
    /// Bytes of compute buffers per buffer type id.
    std::vector<int64_t> compute_buffer_bytes() const;

private:
    struct State;
    std::unique_ptr<State> state_;
};

} // namespace schedscope
