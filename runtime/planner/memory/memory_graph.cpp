#include "runtime/planner/memory/memory_graph.h"

#include "runtime/numbers.h"

namespace schedscope {

void MemoryGraph::describe(const GraphView& graph, const Plan& plan, const AllocatedGraph& allocated) {
    graph_ = graph;
    plan_ = &plan;
    allocated_ = &allocated;
    const size_t n_tensors = graph.tensors.size();
    first_rewire_.assign(n_tensors, -1);
    for (size_t i = plan.rewires.size(); i-- > 0;) {
        first_rewire_[plan.rewires[i].node] = int_of(i);
    }
}

void MemoryGraph::rewire_sources(TensorId id, int32_t first_rewire, EntrySources& out) const {
    out.rewired = info(id).src;
    for (size_t i = first_rewire; i < plan_->rewires.size() && plan_->rewires[i].node == id; ++i) {
        out.rewired[plan_->rewires[i].source] = plan_->rewires[i].copy;
    }
    out.id = out.rewired.data();
}

std::string MemoryGraph::name(TensorId id) const {
    if (!is_copy(id)) {
        return std::string(info(id).name);
    }
    const Copy& copy = plan_->copies[id - plan_->n_tensors];
    return "copy of " + std::string(info(id).name) + " on backend " + std::to_string(copy.backend);
}

} // namespace schedscope
