#pragma once

#include "runtime/planner/memory/arena.h"
#include "runtime/planner/memory/memory_graph.h"

#include <span>
#include <vector>

/// Private to the memory planner.
namespace schedscope {

/// One tensor's place in a layout.
struct PlannedPlace {
    BufferTypeId type = no_buffer_type;
    Arena::Place at;
    int64_t bytes = 0;
    int32_t in_place_of = -1; ///< index of the place that it took over
    int32_t first_use = 0, last_use = 0;
};

/// What was planned for one position in the allocated graph.
struct PlannedPosition {
    int64_t bytes = -1; ///< −1: no place was needed
    int32_t place = -1; ///< index into MemoryLayout::places
};

struct PlannedNode {
    PlannedPosition own;
    uint16_t source_mask = 0; ///< source slots that were filled
    int32_t first_source = 0; ///< index into MemoryLayout::sources
};

/// Places by position in the allocated graph, so that the next graph can use them again.
struct MemoryLayout {
    std::vector<PlannedPlace> places;
    std::vector<PlannedPosition> leafs;   ///< [n_leafs]
    std::vector<PlannedNode> nodes;       ///< [n_nodes]
    std::vector<PlannedPosition> sources; ///< of all nodes, filled slots only

    PlannedPosition source(const PlannedNode& node, int slot) const noexcept {
        const unsigned mask = node.source_mask;
        if ((mask >> slot & 1U) == 0) {
            return {};
        }
        return sources[node.first_source + std::popcount(mask & ((1U << slot) - 1))];
    }
};

/// Plans a layout: inputs first, then node by node, each tensor freed after its last use.
class LayoutPlanner {
public:
    /// `arena_of`: [n_backends] buffer type. `arenas`: [n_buffer_types], reset; they hold the peaks afterwards.
    void plan(const MemoryGraph& graph, std::span<const BufferTypeId> arena_of, std::span<Arena> arenas, MemoryLayout& layout);

private:
    struct Life {
        int32_t uses = 0, views = 0; ///< still to come
        int32_t place = -1;          ///< the last one it had
        bool placed = false;         ///< has a place now and owns it
    };

    void count_and_place_inputs();
    void run_nodes();
    void place(TensorId id, BackendId backend) {
        if (!life(id).placed && graph_->bytes(id) >= 0) {
            give_place(id, backend);
        }
    }
    void give_place(TensorId id, BackendId backend);
    bool take_over(TensorId id);
    void give_back_tail(const PlannedPlace& taken, int64_t bytes);
    void release(TensorId source);
    void release_sources(size_t node);
    void free(TensorId id);
    void note_positions();
    PlannedPosition position_of(TensorId id);
    std::span<const TensorId> sources_of(size_t node) const;
    Life& life(TensorId id) { return lives_[id]; }

    const MemoryGraph* graph_ = nullptr;
    std::span<const BufferTypeId> arena_of_;
    std::span<Arena> arenas_;
    MemoryLayout* layout_ = nullptr;
    std::vector<Life> lives_;       ///< [n_ids]
    std::vector<TensorId> sources_; ///< of all nodes, as in MemoryLayout::sources
    int32_t now_ = 0;               ///< index of the node that runs
};

} // namespace schedscope
