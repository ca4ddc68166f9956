#pragma once

#include "runtime/planner/memory/allocated_graph.h"
#include "runtime/planner/planning.h"

/// Private to the memory planner.
namespace schedscope {

/// The sources that a tensor, or an entry of the allocated graph, reads after rewiring. Slot numbers are kept, holes too.
struct EntrySources {
    EntrySources() = default;
    EntrySources(const EntrySources&) = delete;
    EntrySources& operator=(const EntrySources&) = delete;

    TensorId operator[](int slot) const noexcept { return id[slot]; }

    uint16_t mask = 0;            ///< bit N: there is a source N
    const TensorId* id = nullptr; ///< by slot; its own, or `rewired`
    std::array<TensorId, max_sources> rewired;
};

/// The allocated graph with what memory planning asks about its tensors. Ids: the graph's, copies behind.
class MemoryGraph {
public:
    void describe(const GraphView& graph, const Plan& plan, const AllocatedGraph& allocated);

    const AllocatedGraph& allocated() const noexcept { return *allocated_; }
    const PlannerRules& rules() const noexcept { return plan_->rules; }
    size_t n_ids() const noexcept { return plan_->bytes.size(); }
    bool is_copy(TensorId id) const noexcept { return id >= plan_->n_tensors; }
    /// Of a copy: its original's.
    const TensorInfo& info(TensorId id) const noexcept { return graph_.tensors[is_copy(id) ? original(id) : id]; }
    Op op(TensorId id) const noexcept { return is_copy(id) ? Op::NONE : *info(id).op; }
    TensorId view_source(TensorId id) const noexcept { return is_copy(id) ? no_tensor : info(id).view_source; }
    bool has_flag(TensorId id, TensorFlags flag) const noexcept { return (plan_->flags[id] & flag) != 0; }
    /// Bytes that it needs; −1: none, because it is a view or was allocated before planning.
    int64_t bytes(TensorId id) const noexcept { return plan_->bytes[id]; }
    std::string name(TensorId id) const;

    void sources_of(TensorId id, EntrySources& out) const {
        if (is_copy(id)) {
            out.mask = 0;
            return;
        }
        out.mask = plan_->source_masks[id];
        out.id = info(id).src.data();
        if (const int32_t rewire = first_rewire_[id]; rewire >= 0) {
            rewire_sources(id, rewire, out);
        }
    }
    void sources_of(const AllocatedEntry& entry, EntrySources& out) const {
        if (!entry.dependency) {
            sources_of(entry.tensor, out);
        } else if (entry.keeps_list) {
            const auto& list = allocated_->list_of(entry);
            out.mask = source_mask(list);
            out.id = list.data();
        } else {
            out.mask = 1;
            out.id = &entry.tensor;
        }
    }

private:
    TensorId original(TensorId copy) const noexcept { return plan_->copies[copy - plan_->n_tensors].of; }
    void rewire_sources(TensorId id, int32_t first_rewire, EntrySources& out) const;

    GraphView graph_;
    const Plan* plan_ = nullptr;
    const AllocatedGraph* allocated_ = nullptr;
    std::vector<int32_t> first_rewire_; ///< [n_tensors] index into plan.rewires; −1: reads its own sources
};

} // namespace schedscope
