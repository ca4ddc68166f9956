#pragma once

#include "runtime/planner/plan.h"

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace schedscope {

/// An entry of the graph that memory is planned for.
struct AllocatedEntry {
    TensorId tensor = no_tensor; ///< of the graph, or a copy
    BackendId backend = no_backend;
    bool dependency = false; ///< not the tensor itself, but a view that keeps this split input alive until it is copied
    bool keeps_list = false; ///< and that view keeps a list of tensors alive (AllocatedGraph::kept_lists)

    bool operator==(const AllocatedEntry&) const = default;
};

/// Nodes [first, end) of an order: a group that one kernel runs. Its result is written while its products' sources are still
/// read, so these keep their memory until the group is done. Also where a group is left apart for this batch alone, so that its
/// places fit the next batch.
struct KeptRange {
    int32_t first = 0, end = 0;

    bool operator==(const KeptRange&) const = default;
};

/// Why a pair is left apart that a smaller batch would have in a group.
constexpr std::string_view batch_too_large = "batch too large";
/// Puts ranges from index `from` on in order; of those that overlap the first stays.
void order_kept(std::vector<KeptRange>& kept, size_t from);

/// What the backends' optimise steps make of a graph's nodes.
struct OptimisedNodes {
    std::vector<TensorId> order;     ///< a permutation of the graph's nodes, split by split
    std::vector<KeptRange> kept;     ///< groups in it, in order
    std::optional<int64_t> n_groups; ///< of these: that are run as one kernel; nothing: not known
};

/// What a backend wants to stay allocated until a node is done (its optimise step says so; #27301): the graph's tensors, or
/// copies.
struct KeptUntil {
    TensorId node = no_tensor;
    std::array<TensorId, max_sources> tensors{};
};

/// The graph that memory is planned for: per split, for each of its inputs a dependency and the present stage's copy, then the
/// split's nodes. Leafs: copies of all stages (when there are several), then the graph's.
struct AllocatedGraph {
    std::vector<AllocatedEntry> leafs, nodes;
    struct KeptList {
        int32_t entry = 0; ///< of `nodes`
        std::array<TensorId, max_sources> tensors{};
    };
    std::vector<KeptRange> kept;      ///< of `nodes`, in order
    std::vector<KeptList> kept_lists; ///< in order

    /// Of an entry of `nodes` that keeps one.
    const std::array<TensorId, max_sources>& list_of(const AllocatedEntry& entry) const;
};

/// `order`: the graph's nodes after the backends' optimise steps; `kept`: its groups, in order, none across splits. `out`'s
/// memory is used again.
void copy_graph(const GraphView& graph, const Plan& plan, std::span<const TensorId> order, AllocatedGraph& out,
                std::span<const KeptRange> kept = {});
/// Adds a tensor to the last of them, or to a new one where that is of another node or has no room.
void keep_until(std::vector<KeptUntil>& kept, TensorId node, TensorId tensor);
/// Puts an entry behind each of these nodes that keeps its list; several of a node keep their order.
void add_kept(AllocatedGraph& graph, std::span<const KeptUntil> kept);

} // namespace schedscope
