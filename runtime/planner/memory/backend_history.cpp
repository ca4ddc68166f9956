#include "runtime/planner/memory/backend_history.h"

namespace schedscope {

bool BackendHistory::PositionBackends::exchange(std::span<const AllocatedEntry> present, size_t newer,
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
        changed |= now != before[i] && type_of_backend[now] != type_of_backend[before[i]];
    }
    return changed;
}

bool BackendHistory::changed(const AllocatedGraph& present, std::span<const BufferTypeId> type_of_backend) {
    newer_ = 1 - newer_;
    const bool nodes = nodes_.exchange(present.nodes, newer_, type_of_backend);
    const bool leafs = leafs_.exchange(present.leafs, newer_, type_of_backend);
    return nodes || leafs;
}

} // namespace schedscope
