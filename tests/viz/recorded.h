#pragma once

#include "runtime/planner/memory/allocate.h"
#include "runtime/planner/plan.h"
#include "tests/viz/sketch.h"
#include "traces/store/live_store.h"

#include <memory>

namespace schedscope {

/// Every backend runs every operator but attention, which only the last one does, and uses only its own memory.
class PlainCapabilities final : public Capabilities {
public:
    explicit PlainCapabilities(const Sketch& sketch) : sketch_(sketch) {}
    int n_backends() const noexcept override { return static_cast<int>(sketch_.session.backends.size()); }
    BufferTypeId default_buffer_type(BackendId backend) const override { return backend; }
    bool is_host(BufferTypeId type) const override { return type + 1 == n_backends(); }
    Answer supports_op(BackendId backend, TensorId tensor) const override {
        const bool attention = sketch_.graph.tensors[static_cast<size_t>(tensor)].op == Op::FLASH_ATTN_EXT;
        return attention && backend + 1 < n_backends() ? Answer::no(Refusal::op, "no attention here") : Answer{};
    }
    bool supports_buffer_type(BackendId backend, BufferTypeId type) const override { return backend == type; }
    bool wants_offload(BackendId, TensorId) const override { return false; }

private:
    const Sketch& sketch_;
};

/// The sketch's graph, really planned and its memory laid out, all recorded as evaluation 0, and so again up to `n_plans`; one
/// more evaluation uses the last plan again. Where the sketch put weights and caches they lie; what it assigned to nodes is
/// forgotten.
inline std::shared_ptr<LiveStore> recorded(Sketch& sketch, int n_plans = 1) {
    for (const TensorId leaf : sketch.graph.leafs) {
        TensorInfo& info = sketch.graph.tensors[static_cast<size_t>(leaf)];
        info.buffer_type =
            (info.flags & flag_input) != 0 ? no_buffer_type : sketch.state.tensors[static_cast<size_t>(leaf)].backend;
    }
    for (BackendInfo& backend : sketch.session.backends) {
        backend.supports_buffer_type.assign(sketch.session.buffer_types.size(), 0);
        backend.supports_buffer_type[static_cast<size_t>(*backend.default_buffer_type)] = 1;
    }
    const PlainCapabilities capabilities(sketch);
    CapabilityTable table;
    fill_table(table, sketch.session, capabilities, static_cast<int32_t>(sketch.graph.tensors.size()));
    auto store = std::make_shared<LiveStore>();
    Recorder& recorder = *store;
    recorder.session(sketch.session);
    Carry carry;
    Plan plan;
    MemoryPlanner memory;
    for (EvaluationId eval = 0; eval < n_plans; ++eval) {
        const StringId failed_check = eval == 0 ? 0 : recorder.intern("another graph");
        recorder.set_evaluation(eval);
        recorder.add(record::EvaluationBegin{GraphKind::prefill, false, false, 16, 1, 1, eval, failed_check});
        recorder.graph(eval, sketch.graph.view(), table);
        make_plan(sketch.graph.view(), capabilities, {}, carry, plan, store.get());
        memory.place(sketch.graph.view(), plan, sketch.graph.nodes, capabilities, sketch.session.buffer_types, store.get());
        recorder.add(record::PassBegin{Pass::execute});
        recorder.add(record::SplitRun{0, plan.splits[0].backend, 1000, 2'001'000});
        recorder.add(record::PassEnd{Pass::execute});
        recorder.add(record::EvaluationEnd{});
    }
    recorder.set_evaluation(n_plans);
    recorder.add(record::EvaluationBegin{GraphKind::prefill, true, false, 16, 1, 1, n_plans - 1, 0});
    recorder.add(record::EvaluationEnd{});
    return store;
}

} // namespace schedscope
