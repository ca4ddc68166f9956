#include "traces/history/lanes.h"

#include <algorithm>
#include <tuple>

namespace schedscope {

/// How many of the open slices don't end before this one begins. One that ends just then holds what takes no time and can be part
/// of it.
size_t Lanes::n_left_open(const Lane& lane, const TimeSlice& slice) {
    size_t n = lane.open.size();
    for (; n > 0; --n) {
        const TimeSlice& top = lane.open[n - 1];
        const bool holds = top.end_ns > slice.start_ns ||
                           (top.end_ns == slice.start_ns && slice.end_ns == slice.start_ns && slice.level > top.level);
        if (holds) {
            break;
        }
    }
    return n;
}

bool Lanes::fits(const Lane& lane, const TimeSlice& slice) {
    const size_t n = n_left_open(lane, slice);
    return slice.start_ns >= lane.end_ns && (n == 0 || lane.open[n - 1].end_ns >= slice.end_ns);
}

void Lanes::close(size_t lane, size_t n_left, std::vector<Edge>& edges) {
    Lane& l = lanes_[lane];
    while (l.open.size() > n_left) {
        const TimeSlice& top = l.open.back();
        l.end_ns = top.end_ns;
        edges.push_back({lane, top.end_ns, top.index, false});
        l.open.pop_back();
    }
}

void Lanes::lay(std::vector<TimeSlice>& slices, std::vector<Edge>& edges) {
    std::stable_sort(slices.begin(), slices.end(), [](const TimeSlice& a, const TimeSlice& b) {
        return std::tuple(a.start_ns, -a.end_ns, a.level) < std::tuple(b.start_ns, -b.end_ns, b.level);
    });
    for (const TimeSlice& slice : slices) {
        size_t lane = 0;
        while (lane < lanes_.size() && !fits(lanes_[lane], slice)) {
            ++lane;
        }
        if (lane == lanes_.size()) {
            lanes_.emplace_back();
        }
        close(lane, n_left_open(lanes_[lane], slice), edges);
        lanes_[lane].open.push_back(slice);
        lanes_[lane].end_ns = slice.start_ns;
        edges.push_back({lane, slice.start_ns, slice.index, true});
    }
    for (size_t lane = 0; lane < lanes_.size(); ++lane) {
        close(lane, 0, edges);
    }
}

} // namespace schedscope
