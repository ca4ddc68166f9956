#include "traces/lifetimes.h"

#include <algorithm>

namespace schedscope {

Lifetimes::Lifetimes(std::span<const record::Placement> placements) {
    for (const record::Placement& placement : placements) {
        if (placement.in_place_of != no_tensor) {
            taken_over_[placement.in_place_of] = placement.first_use;
        }
    }
}

int32_t Lifetimes::end_of(const record::Placement& placement) const {
    const int32_t end = std::max(placement.first_use, placement.last_use) + 1;
    const auto taken = taken_over_.find(placement.tensor);
    return taken == taken_over_.end() ? end : std::clamp(taken->second, placement.first_use + 1, end);
}

Lifetimes::Peak Lifetimes::peak_of(const std::vector<const record::Placement*>& in_one_buffer) const {
    std::map<int32_t, int64_t> change;
    for (const record::Placement* placement : in_one_buffer) {
        change[std::max(0, placement->first_use)] += placement->size;
        change[end_of(*placement)] -= placement->size;
    }
    Peak peak;
    int64_t live = 0;
    for (const auto& [at, bytes] : change) {
        live += bytes;
        if (live > peak.bytes) {
            peak.bytes = live;
            peak.at = at;
        }
    }
    for (const record::Placement* placement : in_one_buffer) {
        if (std::max(0, placement->first_use) <= peak.at && peak.at < end_of(*placement) && placement->size > 0) {
            peak.holders.push_back(placement);
        }
    }
    std::stable_sort(peak.holders.begin(), peak.holders.end(), [](const auto* a, const auto* b) { return a->size > b->size; });
    return peak;
}

} // namespace schedscope
