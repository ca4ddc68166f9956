#include "traces/history/memory_use.h"

#include "traces/history/lifetimes.h"

#include <algorithm>

namespace schedscope {

MemoryUse::MemoryUse(const PlanState& state) {
    const Lifetimes lifetimes(state.placements);
    for (const record::Placement& p : state.placements) {
        const int32_t first = std::max(0, p.first_use);
        made_at_[p.tensor] = first;
        live_[first][p.buffer_type] += p.size;
        live_[lifetimes.end_of(p)][p.buffer_type] -= p.size;
    }
    std::map<BufferTypeId, int64_t> sum; // from changes to what is there
    for (auto& [index, bytes] : live_) {
        for (const auto& [type, change] : bytes) {
            sum[type] += change;
        }
        bytes = sum;
    }
}

const std::map<BufferTypeId, int64_t>* MemoryUse::at(TensorId tensor) const {
    const auto made = made_at_.find(tensor);
    if (made == made_at_.end()) {
        return nullptr;
    }
    const auto behind = live_.upper_bound(made->second);
    return behind == live_.begin() ? nullptr : &std::prev(behind)->second;
}

std::vector<BufferTypeId> MemoryUse::buffer_types() const {
    std::vector<BufferTypeId> types;
    if (!live_.empty()) {
        for (const auto& [type, bytes] : live_.rbegin()->second) {
            types.push_back(type);
        }
    }
    return types;
}

} // namespace schedscope
