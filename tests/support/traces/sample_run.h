#pragma once

#include "runtime/planner/memory/allocate.h"
#include "runtime/planner/plan.h"
#include "runtime/planner/recorder.h"
#include "tests/support/files.h"

#include <memory>
#include <string>
#include <vector>

namespace schedscope::test {

/// Backends that answer by simple rules: the last one runs everything, the others refuse some operators.
class Answers final : public Capabilities {
public:
    Answers(const SessionInfo& session, const OwnedGraph& graph) : session_(session), graph_(graph) {}
    int n_backends() const noexcept override { return static_cast<int>(session_.backends.size()); }
    BufferTypeId default_buffer_type(BackendId b) const override {
        return session_.backends[static_cast<size_t>(b)].default_buffer_type.value_or(no_buffer_type);
    }
    bool is_host(BufferTypeId type) const override { return session_.buffer_types[static_cast<size_t>(type)].is_host; }
    Answer supports_op(BackendId backend, TensorId tensor) const override;
    bool supports_buffer_type(BackendId backend, BufferTypeId type) const override;
    bool wants_offload(BackendId backend, TensorId tensor) const override;

private:
    const SessionInfo& session_;
    const OwnedGraph& graph_;
};

/// A backend for each name ("Vulkan0", "CPU"), each with a buffer type of its own name.
SessionInfo session(const std::vector<std::string>& backends);

/// A chain of blocks with weights on the backends in turn, positions and a mask that all blocks read, views, and some names
/// twice.
OwnedGraph blocks(int n_blocks, int n_tokens, int n_backends);

/// Does what a scheduler and a context do, with times made up and no data: plans for real, and writes all the records.
class SampleRun {
public:
    SampleRun(Recorder& recorder, SessionInfo info, int n_stages = 1);

    /// An evaluation that plans a graph; false when no plan was possible.
    bool evaluate(OwnedGraph graph, GraphKind kind = GraphKind::prefill);
    /// An evaluation that runs the last plan again.
    void evaluate_again();
    EvaluationId n_evaluations() const { return next_evaluation_; }
    const SessionInfo& session() const { return info_; }

    KernelTimes kernel_times = KernelTimes::kernels; ///< that evaluations from here on record

private:
    void begin(GraphKind kind, bool reused, int32_t n_tokens);
    void optimise();
    void execute();
    void choose_token();
    void end(const std::string& error);

    Recorder& recorder_;
    SessionInfo info_;
    int n_stages_, stage_ = 0;
    EvaluationId next_evaluation_ = 0, planned_in_ = -1;
    GraphId next_graph_ = 0;
    OwnedGraph graph_;
    CapabilityTable table_;
    Plan plan_;
    Carry carry_;
    MemoryPlanner planner_;
    std::vector<TensorId> order_;
    int64_t clock_ = 1000;
};

using files::Folder;

} // namespace schedscope::test
