#include "traces/history/lifetimes.h"

#include "runtime/system/joined.h"

#include <algorithm>

namespace schedscope {

std::string place_in_words(int32_t place, std::string_view taken_by) {
    const std::string number = "place " + std::to_string(place);
    return taken_by.empty() ? number : joined({number, " (", taken_by, ")"});
}

Lifetimes::Lifetimes(std::span<const record::Placement> placements) {
    for (const record::Placement& placement : placements) {
        if (placement.in_place_of < 0) {
            continue;
        }
        const size_t parent = placement.in_place_of;
        if (parent >= taken_over_.size()) {
            taken_over_.resize(parent + 1, -1);
        }
        taken_over_[parent] = std::max(placement.first_use, 0);
    }
}

int32_t Lifetimes::end_of(const record::Placement& placement) const {
    const int32_t end = std::max(placement.first_use, placement.last_use) + 1;
    const size_t id = placement.tensor;
    const int32_t taken = placement.tensor >= 0 && id < taken_over_.size() ? taken_over_[id] : -1;
    return taken < 0 ? end : std::clamp(taken, placement.first_use + 1, end);
}

std::vector<Lifetimes::Live> Lifetimes::live_in(const std::vector<const record::Placement*>& one_buffer) const {
    std::vector<Live> changes; // bytes that are needed from there on, or no longer
    changes.reserve(2 * one_buffer.size());
    for (const record::Placement* placement : one_buffer) {
        changes.push_back({std::max(0, placement->first_use), placement->size});
        changes.push_back({end_of(*placement), -placement->size});
    }
    std::sort(changes.begin(), changes.end(), [](const Live& a, const Live& b) { return a.at < b.at; });
    std::vector<Live> live;
    int64_t bytes = 0;
    for (const Live& change : changes) {
        bytes += change.bytes;
        if (live.empty() || live.back().at != change.at) {
            live.push_back({change.at, 0});
        }
        live.back().bytes = bytes;
    }
    return live;
}

Lifetimes::Peak Lifetimes::peak_of(const std::vector<const record::Placement*>& one_buffer) const {
    Peak peak;
    for (const Live& live : live_in(one_buffer)) {
        if (live.bytes > peak.bytes) {
            peak.bytes = live.bytes;
            peak.at = live.at;
        }
    }
    for (const record::Placement* placement : one_buffer) {
        if (std::max(0, placement->first_use) <= peak.at && peak.at < end_of(*placement) && placement->size > 0) {
            peak.holders.push_back(placement);
        }
    }
    const auto begins_there = [&](const record::Placement* placement) { return std::max(0, placement->first_use) == peak.at; };
    if (std::count_if(peak.holders.begin(), peak.holders.end(), begins_there) == 1) {
        peak.taken = *std::find_if(peak.holders.begin(), peak.holders.end(), begins_there);
    }
    std::stable_sort(peak.holders.begin(), peak.holders.end(), [](const auto* a, const auto* b) { return a->size > b->size; });
    return peak;
}

} // namespace schedscope
