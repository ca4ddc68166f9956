#pragma once

#include "runtime/planner/graph_view.h"

#include <cstdint>
#include <vector>

namespace schedscope {

/// How much of a tensor counts when two of them are said to be alike.
enum class Likeness : uint8_t {
    exact,         ///< operator, type, shape, strides, parameters, flags
    typed,         ///< operator and type: another batch has other shapes
    operator_only, ///< the operator (for a leaf: weight or not): another cache has other types
    count,
};

/// What a graph looks like apart from its names: a number for each tensor, equal where the graphs are (and, but for chance, only
/// there). All is linear in tensors and edges. Edges that close a circle, which only a broken file has, are as if they were not.
class GraphShape {
public:
    /// Slots of a tensor: its sources, then the tensor that it is a view of.
    static constexpr int n_slots = max_sources + 1;
    struct Use {
        TensorId user = no_tensor;
        int32_t slot = 0;
    };

    explicit GraphShape(const OwnedGraph& graph);

    const OwnedGraph& graph() const noexcept { return graph_; }
    size_t n_tensors() const noexcept { return graph_.tensors.size(); }
    TensorId source(TensorId id, int slot) const noexcept;
    const Use* uses_begin(TensorId id) const noexcept { return uses_.data() + first_use_[id]; }
    const Use* uses_end(TensorId id) const noexcept { return uses_.data() + first_use_[static_cast<size_t>(id) + 1]; }
    size_t n_uses(TensorId id) const noexcept { return uses_end(id) - uses_begin(id); }
    bool has_sources(TensorId id) const noexcept;

    /// The tensors themselves, by id.
    std::vector<uint64_t> labels(Likeness likeness) const;
    /// With all that each is computed from · with all that is computed from it. `labels` as above.
    std::vector<uint64_t> above(const std::vector<uint64_t>& labels) const;
    std::vector<uint64_t> below(const std::vector<uint64_t>& labels) const;
    /// Of the names; 0 for those that say only a position ("node_21", "leaf_5 (view)") or nothing.
    std::vector<uint64_t> names() const;
    /// Of leafs: name, type and extents; 0 for what is computed, and where the name says nothing.
    std::vector<uint64_t> named_leafs() const;
    /// With its operator and name alone; one whose name says nothing has its type, extents and sources instead.
    std::vector<uint64_t> named() const;

private:
    const OwnedGraph& graph_;
    std::vector<size_t> first_use_; ///< [n_tensors + 1] index into uses_
    std::vector<Use> uses_;
    std::vector<TensorId> order_; ///< each behind its sources; those in circles are not in it
};

} // namespace schedscope
