#pragma once

#include "runtime/ops/op.h"
#include "runtime/planner/memory/allocate.h"

#include <algorithm>
#include <string>
#include <vector>

namespace schedscope::test {

/// When each tensor of an allocated graph must have its memory, worked out from the graph alone, and whether a memory plan
/// respects it.
class LifetimeCheck {
public:
    LifetimeCheck(const GraphView& graph, const Plan& plan, const AllocatedGraph& allocated)
        : graph_(graph), plan_(plan), needed_(graph.tensors.size() + plan.copies.size()) {
        const auto end = static_cast<int32_t>(allocated.nodes.size());
        for (const AllocatedEntry& leaf : allocated.leafs) {
            use(leaf.tensor, 0); // written before the first node runs
        }
        for (int32_t i = 0; i < end; ++i) {
            const AllocatedEntry& entry = allocated.nodes[static_cast<size_t>(i)];
            use(entry.tensor, i);
            if (!entry.dependency && entry.tensor < plan.n_tensors) {
                for (int slot = 0; slot < max_sources; ++slot) {
                    if (const TensorId source = present_source(entry.tensor, slot); source != no_tensor) {
                        use(source, i);
                    }
                }
            }
        }
        for (size_t id = 0; id < needed_.size(); ++id) {
            if ((plan.flags[id] & flag_output) != 0) {
                use(static_cast<TensorId>(id), end);
            }
        }
    }

    /// What is wrong with the plan; empty: nothing.
    std::string complaint(const MemoryPlan& memory) const {
        for (const PlacedTensor& t : memory.tensors) {
            const auto& chunks = memory.chunk_sizes[static_cast<size_t>(t.buffer_type)];
            if (static_cast<size_t>(t.chunk) >= chunks.size() || t.offset + t.size > chunks[static_cast<size_t>(t.chunk)]) {
                return name(t) + " lies outside its buffer";
            }
            for (const PlacedTensor& other : memory.tensors) {
                if (&other != &t && collide(t, other)) {
                    return name(t) + " and " + name(other) + " are alive in the same bytes";
                }
            }
        }
        return "";
    }

private:
    struct Needed {
        int32_t first = INT32_MAX, last = -1;
    };

    TensorId present_source(TensorId node, int slot) const {
        for (const Rewire& r : plan_.rewires) {
            if (r.node == node && r.source == slot) {
                return r.copy;
            }
        }
        return graph_.tensors[static_cast<size_t>(node)].src[static_cast<size_t>(slot)];
    }

    void use(TensorId id, int32_t when) {
        Needed& n = needed_[static_cast<size_t>(id)];
        n.first = std::min(n.first, when);
        n.last = std::max(n.last, when);
        if (id < plan_.n_tensors && graph_.tensors[static_cast<size_t>(id)].is_view()) {
            use(graph_.tensors[static_cast<size_t>(id)].view_source, when);
        }
    }

    bool collide(const PlacedTensor& a, const PlacedTensor& b) const {
        const bool same_bytes =
            a.buffer_type == b.buffer_type && a.chunk == b.chunk && a.offset < b.offset + b.size && b.offset < a.offset + a.size;
        const Needed& na = needed_[static_cast<size_t>(a.tensor)];
        const Needed& nb = needed_[static_cast<size_t>(b.tensor)];
        if (!same_bytes || na.last < nb.first || nb.last < na.first) {
            return false;
        }
        // In place: the result is written at the node that reads its source for the last time.
        const bool b_from_a = b.in_place_of == a.tensor && na.last == nb.first;
        const bool a_from_b = a.in_place_of == b.tensor && nb.last == na.first;
        return !b_from_a && !a_from_b;
    }

    std::string name(const PlacedTensor& t) const {
        return t.tensor < plan_.n_tensors ? std::string(graph_.tensors[static_cast<size_t>(t.tensor)].name)
                                          : "copy " + std::to_string(t.tensor - plan_.n_tensors);
    }

    const GraphView& graph_;
    const Plan& plan_;
    std::vector<Needed> needed_;
};

} // namespace schedscope::test
