#include "traces/history/memory_use.h"

#include <algorithm>

namespace schedscope {

MemoryUse::MemoryUse(const PlanState& state) {
    const Lifetimes lifetimes(state.placements);
    std::map<BufferTypeId, std::vector<const record::Placement*>> placed;
    for (const record::Placement& p : state.placements) {
        made_at_[p.tensor] = std::max(0, p.first_use);
        placed[p.buffer_type].push_back(&p);
    }
    for (const auto& [type, placements] : placed) {
        live_[type] = lifetimes.live_in(placements);
    }
}

std::map<BufferTypeId, int64_t> MemoryUse::at(TensorId tensor) const {
    std::map<BufferTypeId, int64_t> bytes;
    const auto made = made_at_.find(tensor);
    for (const auto& [type, live] : live_) {
        const auto behind = made == made_at_.end()
                                ? live.begin()
                                : std::upper_bound(live.begin(), live.end(), made->second,
                                                   [](int32_t at, const Lifetimes::Live& l) { return at < l.at; });
        if (behind != live.begin()) {
            bytes[type] = std::prev(behind)->bytes;
        }
    }
    return bytes;
}

std::vector<BufferTypeId> MemoryUse::buffer_types() const {
    std::vector<BufferTypeId> types;
    for (const auto& [type, live] : live_) {
        types.push_back(type);
    }
    return types;
}

} // namespace schedscope
