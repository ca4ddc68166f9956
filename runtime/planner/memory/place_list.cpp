#include "runtime/planner/memory/place_list.h"

#include "runtime/numbers.h"

namespace schedscope {

Misfit PlaceList::fill(const MemoryGraph& graph, const MemoryLayout& layout, std::vector<PlacedTensor>& out) {
    const AllocatedGraph& allocated = graph.allocated();
    if (layout.nodes.size() != allocated.nodes.size()) {
        return {Misfit::Kind::n_nodes, no_tensor, -1, no_tensor};
    }
    if (layout.leafs.size() != allocated.leafs.size()) {
        return {Misfit::Kind::n_leafs, no_tensor, -1, no_tensor};
    }
    layout_ = &layout;
    out_ = &out;
    out.clear();
    listed_.assign(graph.n_ids(), 0);
    owner_.resize(layout.places.size());
    leaf_without_place_ = -1;
    for (size_t i = 0; i < allocated.leafs.size(); ++i) {
        const TensorId leaf = allocated.leafs[i].tensor;
        if (const int64_t bytes = graph.bytes(leaf); unlisted(leaf, bytes)) {
            if (layout.leafs[i].place >= 0) {
                list(leaf, bytes, layout.leafs[i].place);
            } else if (leaf_without_place_ < 0) {
                leaf_without_place_ = int_of(i);
            }
        }
    }
    EntrySources sources;
    for (size_t i = 0; i < allocated.nodes.size(); ++i) {
        const AllocatedEntry& entry = allocated.nodes[i];
        const PlannedNode& planned = layout.nodes[i];
        if (!entry.dependency && graph.bytes(entry.tensor) > planned.own.bytes) {
            return {Misfit::Kind::node, entry.tensor, -1, no_tensor};
        }
        graph.sources_of(entry, sources);
        const bool same_slots = sources.mask == planned.source_mask;
        const PlannedPosition* next = layout.sources.data() + planned.first_source;
        for (unsigned mask = sources.mask; mask != 0; mask &= mask - 1) {
            const int slot = std::countr_zero(mask);
            const TensorId source = sources[slot];
            const PlannedPosition place = same_slots ? *next++ : layout.source(planned, slot);
            const int64_t bytes = graph.bytes(source);
            if (bytes > place.bytes) {
                return {Misfit::Kind::source, entry.tensor, slot, source};
            }
            if (unlisted(source, bytes)) {
                list(source, bytes, place.place);
            }
        }
        if (const int64_t bytes = graph.bytes(entry.tensor); !entry.dependency && unlisted(entry.tensor, bytes)) {
            list(entry.tensor, bytes, planned.own.place);
        }
    }
    return {};
}

void PlaceList::list(TensorId id, int64_t bytes, int32_t index) {
    listed_[id] = 1;
    const PlannedPlace& place = layout_->places[index];
    owner_[index] = id;
    const TensorId parent = place.in_place_of < 0 ? no_tensor : owner_[place.in_place_of];
    out_->push_back({id, place.type, place.at.chunk, place.at.offset, bytes, parent, place.first_use, place.last_use});
}

std::string misfit_text(const MemoryGraph& graph, const Misfit& misfit) {
    switch (misfit.what) {
    case Misfit::Kind::nothing: return "";
    case Misfit::Kind::n_nodes: return "different number of nodes";
    case Misfit::Kind::n_leafs: return "different number of leafs";
    case Misfit::Kind::order: return "different order of nodes";
    case Misfit::Kind::reserve: return "memory is reserved for a graph";
    case Misfit::Kind::node: return "node " + graph.name(misfit.node) + " is not valid";
    case Misfit::Kind::source:
        return "source " + std::to_string(misfit.slot) + " (" + graph.name(misfit.source) + ") of node " +
               graph.name(misfit.node) + " is not valid";
    }
    return "";
}

} // namespace schedscope
