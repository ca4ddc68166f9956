#pragma once

#include "runtime/planner/memory/allocate.h"
#include "runtime/planner/plan.h"
#include "runtime/planner/recorder.h"
#include "tests/support/graphs/transformer_sketch.h"
#include "traces/store/live_store.h"

#include <algorithm>
#include <memory>

namespace schedscope::test {

/// Records what a runtime would of a transformer on two backends (GPU0 and CPU): a prefill that is planned by the real planner,
/// placed by the real memory planner and "run" with made-up times, then decodes that use the graph again. GPU0 refuses SOFT_MAX,
/// so that there is something to see.
class MadeRun {
public:
    /// What makes a run large: every so many evaluations the graph is planned again (0: only once); every layer is fused, not
    /// only the first.
    struct Size {
        int plan_every = 0;
        bool fuses_all = false;
        int n_reserves = 0; ///< of the first ones, how many are said to be planned for their memory alone
        bool says_tokens = true;
    };
    explicit MadeRun(int n_layers) : MadeRun(n_layers, Size()) {}
    MadeRun(int n_layers, Size size) : size_(size) {
        sketch_transformer(n_layers, sketch_);
        if (!size_.says_tokens)
            sketch_.session.knows.lack(Topic::tokens);
        for (size_t id = 0; id < sketch_.graph.tensors.size(); ++id)
            if (sketch_.graph.tensors[id].op == Op::SOFT_MAX)
                sketch_.answers.op_answers[id] = Answer::no(Refusal::type, "the mask is not F16");
    }

    void record(Recorder& to, int n_evaluations) {
        to.session(sketch_.session);
        record_more(to, 0, n_evaluations);
    }
    /// Evaluations [first, end), after those before.
    void record_more(Recorder& to, EvaluationId first, EvaluationId end) {
        for (EvaluationId e = first; e < end; ++e) {
            evaluate(to, e);
        }
    }

    const OwnedGraph& graph() const noexcept { return sketch_.graph; }
    /// Before anything is recorded. `name` outlives this.
    void rename(std::string_view tensor, const char* name) {
        for (TensorInfo& info : sketch_.graph.tensors)
            if (info.name == tensor)
                info.name = name;
    }

private:
    void evaluate(Recorder& to, EvaluationId e) {
        to.set_evaluation(e);
        record::EvaluationBegin begin;
        begin.kind = e < size_.n_reserves ? GraphKind::reserve : e == size_.n_reserves ? GraphKind::prefill : GraphKind::decode;
        const bool plans = e == 0 || (size_.plan_every > 0 && e % size_.plan_every == 0);
        if (plans) {
            planned_in_ = e;
        }
        begin.reused = !plans;
        begin.n_tokens = e == 0 ? 3 : 1;
        begin.n_sequences = begin.n_outputs = 1;
        begin.planned_in = planned_in_;
        to.add(begin);
        for (int32_t i = 0; i < begin.n_tokens && size_.says_tokens; ++i)
            to.add(record::UbatchToken{400 + i, 0, e == 0 ? i : 2 + e, i + 1 == begin.n_tokens});
        if (plans)
            plan(to);
        execute(to, e);
        to.add(record::Sample{0, no_backend, to.intern("top_k"), to.intern("GPU0 can't run TOP_K"), 40, true});
        if (size_.says_tokens)
            to.add(record::NextToken{0, 500 + e, 3 + e, to.intern(" word" + std::to_string(e)), 40, 160});
        to.add(record::EvaluationEnd{});
        to.flush();
    }

    void plan(Recorder& to) {
        const GraphView view = sketch_.graph.view();
        PlanOptions options;
        options.graph_id = n_graphs_++;
        to.graph(options.graph_id, view, sketch_.answers);
        make_plan(view, sketch_.answers, options, carry_, plan_, &to);
        to.add(record::PassBegin{Pass::optimise});
        const auto op_of = [&](size_t place) { return view.tensors[static_cast<size_t>(view.nodes[place])].op; };
        bool fused = false, kept_apart = false;
        for (size_t i = 1; i < view.nodes.size() && (size_.fuses_all || !fused || !kept_apart); ++i) {
            const auto first = static_cast<int32_t>(i) - 1;
            const int32_t split = split_of(first);
            const BackendId backend = plan_.splits[static_cast<size_t>(split)].backend;
            if (op_of(i - 1) == Op::RMS_NORM && split_of(first + 1) == split && (size_.fuses_all || !fused)) {
                to.add(record::Fusion{split, backend, first, 2, to.intern("rms_norm_mul")});
                fused = true;
            } else if (op_of(i) == Op::GLU && (size_.fuses_all || !kept_apart)) {
                to.add(record::NotFused{split, backend, view.nodes[i - 1], view.nodes[i], to.intern("its result is used twice")});
                kept_apart = true;
            }
        }
        to.add(record::PassEnd{Pass::optimise});
        memory_.place(view, plan_, view.nodes, sketch_.answers, sketch_.session.buffer_types, &to);
    }

    int32_t split_of(int32_t place) const {
        const auto after = std::upper_bound(plan_.splits.begin(), plan_.splits.end(), place,
                                            [](int32_t node, const Split& split) { return node < split.first_node; });
        return static_cast<int32_t>(after - plan_.splits.begin()) - 1;
    }

    void execute(Recorder& to, EvaluationId e) {
        const GraphView view = sketch_.graph.view();
        to.add(record::PassBegin{Pass::execute});
        int64_t now = 1'000'000'000 + e * 10'000'000;
        for (size_t s = 0; s < plan_.splits.size(); ++s) {
            const Split& split = plan_.splits[s];
            const int64_t start = now;
            const auto index = static_cast<int32_t>(s);
            for (int32_t i = 0; i < split.n_inputs; ++i) {
                const TensorId of = plan_.split_inputs[static_cast<size_t>(split.first_input + i)];
                const TensorInfo& info = view.tensors[static_cast<size_t>(of)];
                const Copy& copy = plan_.copies[static_cast<size_t>(plan_.find_copies(of, split.backend))];
                record::Transfer t;
                t.split = index;
                t.tensor = of;
                t.copy = copy.id;
                t.from = plan_.assignments[static_cast<size_t>(of)].backend;
                t.to = split.backend;
                t.bytes = *info.bytes();
                t.start_ns = now;
                t.end_ns = now += 2'000;
                to.add(t);
            }
            KernelList kernels;
            std::vector<KernelSpan> spans;
            for (int32_t n = split.first_node; n < split.end_node; ++n) {
                const TensorId id = view.nodes[static_cast<size_t>(n)];
                const TensorInfo& info = view.tensors[static_cast<size_t>(id)];
                if (is_view_op(*info.op))
                    continue;
                kernels.push_back(
                    {id, id, 1, to.intern(op_name(*info.op)), *info.bytes(), info.op == Op::MUL_MAT ? 1'000'000 : 1'000});
                const int64_t begin = now;
                spans.push_back({begin, now += info.op == Op::MUL_MAT ? 40'000 : 5'000});
            }
            SplitPart part;
            part.split = index;
            part.backend = split.backend;
            part.start_ns = start;
            part.end_ns = now;
            part.count = static_cast<int32_t>(kernels.size());
            part.kernels = std::make_shared<const KernelList>(std::move(kernels));
            part.times = spans;
            to.add(part);
        }
        to.add(record::PassEnd{Pass::execute});
    }

    TransformerSketch sketch_;
    Size size_;
    EvaluationId planned_in_ = 0;
    GraphId n_graphs_ = 0;
    Carry carry_;
    Plan plan_;
    MemoryPlanner memory_;
};

/// Records a plan that fails: a tensor in memory that no backend runs its operator on.
inline void record_failing_plan(Recorder& to) {
    TransformerSketch sketch;
    sketch_transformer(1, sketch);
    detail::Builder builder(sketch.graph);
    const TensorId stuck = builder.node("stuck", Op::ADD, {8, 1, 1, 1}, {0, 0});
    sketch.graph.tensors[static_cast<size_t>(stuck)].buffer_type = 1;
    const size_t n = sketch.graph.tensors.size();
    sketch.answers.n_tensors = static_cast<int32_t>(n);
    sketch.answers.op_answers.assign(2 * n, Answer{});
    sketch.answers.offload_answers.assign(2 * n, 0);
    for (const size_t backend : {0, 1})
        sketch.answers.op_answers[backend * n + static_cast<size_t>(stuck)] = Answer::no(Refusal::op, "");
    to.session(sketch.session);
    to.add(record::EvaluationBegin{});
    to.graph(0, sketch.graph.view(), sketch.answers);
    Carry carry;
    Plan plan;
    try {
        make_plan(sketch.graph.view(), sketch.answers, PlanOptions{}, carry, plan, &to);
    } catch (const PlanError&) {}
    to.add(record::EvaluationEnd{true, 0});
}

/// A whole trace in memory.
inline std::shared_ptr<LiveStore> made_trace(int n_layers, int n_evaluations) {
    auto store = std::make_shared<LiveStore>();
    MadeRun(n_layers).record(*store, n_evaluations);
    return store;
}

} // namespace schedscope::test
