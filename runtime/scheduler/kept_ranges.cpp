#include "runtime/scheduler/kept_ranges.h"

namespace schedscope {

void note_kept(const SplitGraph& graph, int32_t first_node, std::vector<KeptRange>& kept) {
    const size_t before = kept.size();
    for (const FusionGroup& group : graph.groups) {
        kept.push_back({first_node + group.first, first_node + group.first + group.count});
    }
    for (const UnfusedPair& pair : graph.not_fused) {
        if (pair.why == batch_too_large) {
            kept.push_back({first_node + pair.first, first_node + pair.second + 1});
        }
    }
    order_kept(kept, before);
}

} // namespace schedscope
