#pragma once

#include "runtime/scheduler/arena.h"
#include "runtime/scheduler/memory_graph.h"

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

/// Places by position in the allocated graph, so that the next graph can use them again. Indices into `places`; −1: no place was needed.
struct MemoryLayout {
    std::vector<PlannedPlace> places;
    std::vector<int32_t> leafs;         ///< [n_leafs]
    std::vector<int32_t> nodes;         ///< [n_nodes]
    std::vector<int32_t> first_source;  ///< [n_nodes] index into `sources`
    std::vector<uint16_t> source_masks; ///< [n_nodes] source slots that were filled
    std::vector<int32_t> sources;       ///< of all nodes, filled slots only

    /// Place planned for source `slot` of node `node`.
    int32_t source(size_t node, int slot) const noexcept {
        const unsigned mask = source_masks[node];
        if ((mask >> slot & 1U) == 0) {
            return -1;
        }
        return sources[static_cast<size_t>(first_source[node] + std::popcount(mask & ((1U << slot) - 1)))];
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
    void place(TensorId id, BackendId backend);
    bool take_over(TensorId id);
    void release(TensorId source);
    void free(TensorId id);
    void note_positions();
    Life& life(TensorId id) { return lives_[static_cast<size_t>(id)]; }

    const MemoryGraph* graph_ = nullptr;
    std::span<const BufferTypeId> arena_of_;
    std::span<Arena> arenas_;
    MemoryLayout* layout_ = nullptr;
    std::vector<Life> lives_; ///< [n_ids]
    int32_t now_ = 0;         ///< index of the node that runs
};

} // namespace schedscope
