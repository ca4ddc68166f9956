#pragma once

#include "runtime/planner/memory/allocated_graph.h"
#include "runtime/planner/plan.h"
#include "runtime/planner/records.h"

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace schedscope {

/// Where one tensor's data lies in its buffer type's compute buffer.
struct PlacedTensor {
    TensorId tensor = no_tensor; ///< of the graph, or a copy
    BufferTypeId buffer_type = no_buffer_type;
    int16_t chunk = 0;
    int64_t offset = 0, size = 0;
    TensorId in_place_of = no_tensor; ///< the source whose place it took over
    /// Indices into the allocated graph's nodes: from the node at which the place is taken (0: before any runs) to the one after
    /// which it is free again (the last one: never freed). A tensor and the one in whose place it is computed share one node.
    int32_t first_use = 0, last_use = 0;
};

/// Why offsets were planned again.
enum class Replan : uint8_t { no, needs_realloc, backend_changed };

struct MemoryPlan {
    std::vector<PlacedTensor> tensors; ///< leafs, then nodes, each at its first occurrence
    std::vector<std::vector<int64_t>>
        chunk_sizes;        ///< [n_buffer_types][chunk] bytes; when one must grow, all of its type are made again
    bool replanned = false; ///< a new plan of offsets was made
    Replan why = Replan::no;
    std::string reason; ///< why, in ggml's words; empty the first time and when not replanned
};

/// Makes offsets, keeps them from graph to graph. Pure: sizes and ids only, the memory is in ComputeBuffers. Decides as
/// ggml-alloc does: inputs first, then node by node; a node takes the place of a source that it is the last to read, else the gap
/// that fits best; the offsets of the last graph stay where this one fits them.
class MemoryPlanner {
public:
    MemoryPlanner();
    ~MemoryPlanner();
    MemoryPlanner(MemoryPlanner&&) noexcept;
    MemoryPlanner& operator=(MemoryPlanner&&) noexcept;

    /// `order`: the graph's nodes after the backends' optimise steps (split by split; a permutation of graph.nodes), `kept`: its
    /// groups. Throws PlanError (alloc_unassigned, alloc_stale_record). The result is valid until the next call.
    const MemoryPlan& place(const GraphView& graph, const Plan& plan, std::span<const TensorId> order,
                            const Capabilities& capabilities, std::span<const BufferTypeInfo> buffer_types, Recorder* recorder,
                            std::span<const KeptRange> kept = {});
    /// The same for a graph that was copied by the caller.
    const MemoryPlan& place(const GraphView& graph, const Plan& plan, const AllocatedGraph& allocated,
                            const Capabilities& capabilities, std::span<const BufferTypeInfo> buffer_types, Recorder* recorder);

private:
    struct State;
    std::unique_ptr<State> state_;
};

} // namespace schedscope
