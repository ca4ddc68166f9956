#include "traces/replay.h"

#include "runtime/error.h"
#include "runtime/scheduler/allocate.h"
#include "runtime/scheduler/recorder.h"
#include "traces/decisions.h"
#include "traces/interner.h"

#include <algorithm>

namespace schedscope {

namespace {

/// Keeps what a planner writes.
class Collector final : public Recorder {
public:
    std::vector<Record> records;
    Interner texts;

    void session(const SessionInfo&) override {}
    void graph(GraphId, const GraphView&, const CapabilityTable&) override {}
    StringId intern(std::string_view text) override { return texts.intern(text); }
    void keep(const Record& record) override { records.push_back(record); }
};

/// What was recorded of one plan, from its PlanBegin to where the next one or its run begins.
struct RecordedPlan {
    EvaluationId evaluation = 0;
    record::PlanBegin begin;
    bool allocates = false;
    std::vector<Record> records;
    std::vector<record::Reorder> reorders;
    std::vector<record::Fusion> fusions;
    std::vector<record::NotFused> not_fused;
};

class Replayer {
public:
    Replayer(const RecordSource& source, const ReplayOptions& options)
        : source_(source), options_(options), recorded_session_(source.session()), session_(recorded_session_) {}

    ReplayResult run() {
        const Step n = source_.n_steps();
        for (Step at = source_.next_of(-1, fact_bit<record::PlanBegin>()); at != no_step;
             at = source_.next_of(at, fact_bit<record::PlanBegin>())) {
            const Step next = source_.next_of(at, fact_set<record::PlanBegin, record::EvaluationBegin>());
            replay_plan(read_plan(at, next == no_step ? n : next));
        }
        if (result_.plans == 0) {
            throw Error(ErrorKind::input, "the trace holds no plan: nothing can be planned again");
        }
        return std::move(result_);
    }

private:
    RecordedPlan read_plan(Step first, Step end) const {
        constexpr Step chunk = 4096;
        RecordedPlan plan;
        std::vector<Record> records;
        for (; first < end; first += chunk) {
            records.clear();
            source_.read(first, std::min(first + chunk, end), records);
            for (const Record& r : records) {
                if (const auto* begin = std::get_if<record::PlanBegin>(&r.fact)) {
                    plan.begin = *begin;
                    plan.evaluation = r.evaluation;
                } else if (const auto* reorder = std::get_if<record::Reorder>(&r.fact)) {
                    plan.reorders.push_back(*reorder);
                } else if (const auto* fusion = std::get_if<record::Fusion>(&r.fact)) {
                    plan.fusions.push_back(*fusion);
                } else if (const auto* pair = std::get_if<record::NotFused>(&r.fact)) {
                    plan.not_fused.push_back(*pair);
                } else if (const auto* pass = std::get_if<record::PassBegin>(&r.fact)) {
                    plan.allocates |= pass->pass == Pass::allocate;
                    if (pass->pass == Pass::execute) {
                        return plan;
                    }
                } else if (is_decision(r.fact)) {
                    const auto* plan_end = std::get_if<record::PlanEnd>(&r.fact);
                    plan.allocates |= plan_end != nullptr && plan_end->error != 0; // what comes now may have memory to plan
                    plan.records.push_back(r);
                }
            }
        }
        return plan;
    }

    void replay_plan(const RecordedPlan& recorded) {
        ++result_.plans;
        OwnedGraph graph = OwnedGraph::copy_of(source_.graph(recorded.begin.graph).view());
        CapabilityTable answers = source_.answers(recorded.begin.graph);
        session_ = recorded_session_;
        answers.session = &session_;
        bool op_offload = recorded.begin.op_offload;
        int32_t n_stages = recorded.begin.n_stages, current_stage = recorded.begin.current_stage;
        if (options_.change) {
            ReplayInput input{session_,
                              graph,
                              answers,
                              op_offload,
                              n_stages,
                              current_stage,
                              source_.evaluation(recorded.evaluation).begin.n_tokens};
            options_.change(input);
        }
        check(recorded.begin.graph, graph, answers);

        PlanOptions options;
        options.op_offload = op_offload;
        options.n_stages = n_stages;
        options.current_stage = current_stage;
        options.graph_id = recorded.begin.graph;
        options.session = &session_;
        Collector now;
        try {
            make_plan(graph.view(), answers, options, carry_, plan_, &now);
            if (recorded.allocates) {
                const std::vector<TensorId> order = order_of(recorded, graph);
                planner_.place(graph.view(), plan_, order, answers, session_.buffer_types, &now, kept_of(recorded, order));
            }
        } catch (const PlanError&) { // its sentence is in the PlanEnd
        }
        std::erase_if(now.records, [](const Record& r) { return !is_decision(r.fact); });
        const PlanText before{source_, recorded_session_, graph, recorded.records,
                              [this](StringId id) { return source_.text(id); }};
        const PlanText after{source_, session_, graph, now.records, [&now](StringId id) { return now.texts.text(id); }};
        compare_decisions(recorded.evaluation, before, after, options_.max_differences, result_);
    }

    /// What the planner takes for granted of those who ask it live.
    void check(GraphId id, const OwnedGraph& graph, const CapabilityTable& answers) const {
        const std::string about = "graph " + std::to_string(id) + " can't be planned again: ";
        if (session_.backends.empty() || answers.op_answers.size() != session_.backends.size() * graph.tensors.size()) {
            throw Error(ErrorKind::input, about + "the trace holds no answers of backends about it");
        }
        for (const BackendInfo& backend : session_.backends) {
            if (backend.default_buffer_type == no_buffer_type) {
                throw Error(ErrorKind::input, about + "the memory of " + backend.name + " is not recorded");
            }
        }
    }

    std::vector<TensorId> order_of(const RecordedPlan& recorded, const OwnedGraph& graph) const {
        std::vector<TensorId> order = graph.nodes;
        for (const record::Reorder& r : recorded.reorders) {
            if (r.to >= 0 && static_cast<size_t>(r.to) < order.size()) {
                order[static_cast<size_t>(r.to)] = r.node;
            }
        }
        std::vector<TensorId> a = order, b = graph.nodes;
        std::sort(a.begin(), a.end());
        std::sort(b.begin(), b.end());
        if (a != b) {
            throw Error(ErrorKind::input, "evaluation " + std::to_string(recorded.evaluation) +
                                              ": its recorded order of nodes lacks some and has others twice");
        }
        return order;
    }

    std::vector<KeptRange> kept_of(const RecordedPlan& recorded, std::span<const TensorId> order) const {
        const auto n = static_cast<int32_t>(order.size());
        std::vector<int32_t> position(plan_.assignments.size(), -1);
        for (int32_t i = 0; i < n; ++i) {
            position[static_cast<size_t>(order[static_cast<size_t>(i)])] = i;
        }
        const auto place = [&](TensorId id) {
            return id >= 0 && static_cast<size_t>(id) < position.size() ? position[static_cast<size_t>(id)] : -1;
        };
        std::vector<KeptRange> kept;
        const auto keep = [&](int32_t first, int32_t end) {
            if (first >= 0 && first < end && end <= n) {
                kept.push_back({first, end});
            }
        };
        for (const record::Fusion& f : recorded.fusions) {
            keep(f.first, f.first + f.count);
        }
        for (const record::NotFused& pair : recorded.not_fused) {
            if (source_.text(pair.why) == batch_too_large) {
                keep(place(pair.first), place(pair.second) + 1);
            }
        }
        order_kept(kept, 0);
        return kept;
    }

    const RecordSource& source_;
    const ReplayOptions& options_;
    const SessionInfo recorded_session_;
    SessionInfo session_; ///< the one planned with
    Carry carry_;
    Plan plan_;
    MemoryPlanner planner_;
    ReplayResult result_;
};

} // namespace

ReplayResult replay(const RecordSource& source, const ReplayOptions& options) { return Replayer(source, options).run(); }

} // namespace schedscope
