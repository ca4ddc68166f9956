#include "runtime/scheduler/memory_graph.h"

namespace schedscope {

void MemoryGraph::describe(const GraphView& graph, const Plan& plan, const AllocatedGraph& allocated) {
    graph_ = graph;
    plan_ = &plan;
    allocated_ = &allocated;
    bytes_.clear();
    bytes_.reserve(graph.tensors.size() + plan.copies.size());
    for (const TensorInfo& t : graph.tensors) {
        const bool needs_memory = !t.is_view() && t.buffer_type == no_buffer_type;
        bytes_.push_back(needs_memory ? static_cast<int64_t>(n_bytes(t.type, t.ne, t.nb)) : -1);
    }
    for (const Copy& copy : plan.copies) {
        const TensorInfo& t = graph.tensors[static_cast<size_t>(copy.of)];
        bytes_.push_back(static_cast<int64_t>(n_bytes(t.type, t.ne, t.nb)));
    }
    first_rewire_.assign(graph.tensors.size(), -1);
    for (size_t i = plan.rewires.size(); i-- > 0;) {
        first_rewire_[static_cast<size_t>(plan.rewires[i].node)] = static_cast<int32_t>(i);
    }
}

void MemoryGraph::sources_of(TensorId id, EntrySources& out) const {
    if (is_copy(id)) {
        out.mask = 0;
        return;
    }
    const TensorInfo& t = info(id);
    out.mask = source_mask(t.src);
    out.id = t.src;
    if (const int32_t first = first_rewire_[static_cast<size_t>(id)]; first >= 0) {
        for (auto i = static_cast<size_t>(first); i < plan_->rewires.size() && plan_->rewires[i].node == id; ++i) {
            out.id[static_cast<size_t>(plan_->rewires[i].source)] = plan_->rewires[i].copy;
        }
    }
}

void MemoryGraph::sources_of(const AllocatedEntry& entry, EntrySources& out) const {
    if (entry.dependency) {
        out.mask = 1;
        out.id[0] = entry.tensor;
    } else {
        sources_of(entry.tensor, out);
    }
}

std::string MemoryGraph::name(TensorId id) const {
    if (!is_copy(id)) {
        return std::string(info(id).name);
    }
    const Copy& copy = plan_->copies[static_cast<size_t>(id - plan_->n_tensors)];
    return "copy of " + std::string(info(id).name) + " on backend " + std::to_string(copy.backend);
}

} // namespace schedscope
