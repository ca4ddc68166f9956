#pragma once

#include "traces/history/accounts/passes.h"
#include "viz/tables/plan_table.h"

#include <functional>
#include <optional>

namespace schedscope::tables {

/// The tensors of a plan as lists show them: nodes in the present order, leafs, others, copies.
std::vector<TensorId> tensors_in_order(const OwnedGraph& graph, const PlanState& state);

/// The tensors of a plan: what each is, where it was put and by which rule.
class NodesTable final : public PlanTable<NodesTable, TensorId> {
public:
    explicit NodesTable(History& history);
    void update(const PlanState& state, std::vector<TensorId> tensors, const accounts::ChangedTensors& changed = {});
    /// All tensors of the plan of which more is known than that they are there.
    void update(const PlanState& state, const accounts::ChangedTensors& changed = {});
    static std::span<const Entry> entries();
    TensorId tensor(int row) const override { return rows_[row]; }
    bool is_told(int row) const override; ///< false: a log left it out, so that only its place is known
    bool tells_all() const override { return tells_all_; }

    const TensorInfo& info(TensorId id) const { return history().tensor(state(), id); }
    TensorState at(TensorId id) const { return is_index(id, state().tensors) ? state().tensors[id] : TensorState{}; }
    bool is_copy(TensorId id) const noexcept { return graph_ != nullptr && !is_index(id, graph_->tensors); }
    bool is_node(TensorId id) const;
    std::optional<BackendId> was(TensorId id) const noexcept { return changed_.before(id); } ///< nothing: it did not change
    Cell time_of(TensorId id) const;                                                         ///< of the kernel that wrote it
    int32_t place_of(TensorId id) const { return is_index(id, places_) ? places_[id] : -1; }

private:
    void find_kernels(size_t n_tensors);

    const OwnedGraph* graph_ = nullptr;
    GraphId told_of_ = -1; ///< the graph that `tells_all_` is of
    bool tells_all_ = true;
    std::vector<record::Execute> untimed_;
    std::vector<int32_t> kernels_; ///< [tensors] among the state's, then `untimed_`; −1: none. Empty: nothing has run
    std::vector<int32_t> places_;  ///< [tensors] row
    accounts::ChangedTensors changed_;
};

/// "RMS_NORM", "SILU" for a UNARY, "leaf", "copy".
std::string operator_word(const History& history, const PlanState& state, TensorId id);

} // namespace schedscope::tables
