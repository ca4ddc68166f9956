#include "runtime/scheduler/replan.h"

#include <algorithm>

namespace schedscope {

bool BackendHistory::Positions::exchange(std::span<const AllocatedEntry> present, size_t newer,
                                         std::span<const BufferTypeId> type_of_backend) {
    for (std::vector<BackendId>& backends : two) {
        if (backends.size() < present.size()) {
            backends.resize(present.size(), 0);
        }
    }
    const std::vector<BackendId>& before = two[1 - newer];
    bool changed = false;
    for (size_t i = 0; i < present.size(); ++i) {
        const BackendId now = present[i].backend;
        two[newer][i] = now;
        changed |=
            now != before[i] && type_of_backend[static_cast<size_t>(now)] != type_of_backend[static_cast<size_t>(before[i])];
    }
    return changed;
}

bool BackendHistory::changed(const AllocatedGraph& present, std::span<const BufferTypeId> type_of_backend) {
    newer_ = 1 - newer_;
    const bool nodes = nodes_.exchange(present.nodes, newer_, type_of_backend);
    const bool leafs = leafs_.exchange(present.leafs, newer_, type_of_backend);
    return nodes || leafs;
}

Misfit find_misfit(const MemoryGraph& graph, const MemoryLayout& layout) {
    const AllocatedGraph& allocated = graph.allocated();
    if (layout.nodes.size() != allocated.nodes.size()) {
        return {Misfit::What::n_nodes, no_tensor, -1, no_tensor};
    }
    if (layout.leafs.size() != allocated.leafs.size()) {
        return {Misfit::What::n_leafs, no_tensor, -1, no_tensor};
    }
    const auto fits = [&](TensorId id, int32_t place) {
        const int64_t bytes = graph.bytes(id);
        return bytes < 0 || (place >= 0 && layout.places[static_cast<size_t>(place)].bytes >= bytes);
    };
    EntrySources sources;
    for (size_t i = 0; i < allocated.nodes.size(); ++i) {
        const AllocatedEntry& entry = allocated.nodes[i];
        if (!entry.dependency && !fits(entry.tensor, layout.nodes[i])) {
            return {Misfit::What::node, entry.tensor, -1, no_tensor};
        }
        graph.sources_of(entry, sources);
        for (unsigned mask = sources.mask; mask != 0; mask &= mask - 1) {
            const int slot = std::countr_zero(mask);
            const TensorId source = sources.id[static_cast<size_t>(slot)];
            if (!fits(source, layout.source(i, slot))) {
                return {Misfit::What::source, entry.tensor, slot, source};
            }
        }
    }
    return {};
}

std::string misfit_text(const MemoryGraph& graph, const Misfit& misfit) {
    switch (misfit.what) {
    case Misfit::What::nothing: return "";
    case Misfit::What::n_nodes: return "different number of nodes";
    case Misfit::What::n_leafs: return "different number of leafs";
    case Misfit::What::node: return "node " + graph.name(misfit.node) + " is not valid";
    case Misfit::What::source:
        return "source " + std::to_string(misfit.slot) + " (" + graph.name(misfit.source) + ") of node " +
               graph.name(misfit.node) + " is not valid";
    }
    return "";
}

} // namespace schedscope
