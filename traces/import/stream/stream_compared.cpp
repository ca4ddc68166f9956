#include "traces/import/stream/stream_compared.h"

#include "runtime/numbers.h"
#include "traces/format/schedscope_stream.h"

namespace schedscope::import {

namespace {

constexpr size_t most_kept_graphs = 64; ///< a program may say more than it plans

} // namespace

void StreamPlans::keep(GraphId id, const GraphView& graph, const CapabilityTable& answers) {
    if (const auto known = graphs_.find(id); known != graphs_.end()) {
        ++known->second.uses;
        return;
    }
    if (graphs_.size() == most_kept_graphs) {
        graphs_.erase(graphs_.begin());
    }
    KeptGraph& kept = graphs_[id];
    kept.uses = 1;
    kept.graph = OwnedGraph::copy_of(graph);
    kept.answers = answers;
    kept.answers.session = nullptr;
    for (Answer& answer : kept.answers.op_answers) {
        if (!answer.detail.empty()) {
            answer.detail = *kept.details.emplace(answer.detail).first;
        }
    }
}

const std::vector<Fact>& StreamPlans::plan(const SessionInfo& session, ComparedPlan plan, std::optional<GraphKind> kind,
                                           const std::function<StringId(std::string_view)>& intern) {
    const auto kept = graphs_.find(plan.begin.graph);
    const auto last = --kept->second.uses > 0 ? decltype(graphs_)::node_type() : graphs_.extract(kept);
    const KeptGraph& graph = last ? last.mapped() : kept->second;
    const GraphView view = graph.graph.view();
    if (plan.real.order.empty() && !plan.reorders.empty()) {
        plan.real.order.assign(view.nodes.begin(), view.nodes.end());
        for (const record::Reorder& r : plan.reorders) {
            plan.real.order[r.to] = r.node;
        }
    }
    return planner_.plan({session, view, graph.answers, plan.begin, plan.backends, plan.real, kind == GraphKind::reserve,
                          read_builds(session_fact(session, SSCP_FACT_BUILDS))},
                         intern);
}

} // namespace schedscope::import
