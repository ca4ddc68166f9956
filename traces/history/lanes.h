#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace schedscope {

/// Something that took time. `level` tells what it can be part of: an evaluation is 0, a kernel more.
struct TimeSlice {
    int64_t start_ns = 0, end_ns = 0; ///< the end is not before the start
    int level = 0;
    size_t index = 0; ///< of what it is, for whoever made it
};

/// Lays slices side by side so that on each lane they only nest or follow one another, and lie where they nest if they can: what
/// runs at the same time as something that it is no part of (a device that goes on while the next split is begun) is drawn beside
/// it, and no time is ever changed.
class Lanes {
public:
    struct Edge { ///< a slice begins or ends
        size_t lane = 0;
        int64_t time_ns = 0;
        size_t index = 0;
        bool begins = false;
    };

    /// The edges of more slices, appended: for each lane in the order in which they have to be written. A lane's times don't fall
    /// from one call to the next.
    void lay(std::vector<TimeSlice>& slices, std::vector<Edge>& edges);
    size_t n_lanes() const noexcept { return lanes_.size(); }

private:
    struct Lane {
        std::vector<TimeSlice> open; ///< each lies within the one before it
        int64_t end_ns = INT64_MIN;  ///< nothing was written beyond
    };
    static size_t n_left_open(const Lane& lane, const TimeSlice& slice);
    static bool fits(const Lane& lane, const TimeSlice& slice);
    void close(size_t lane, size_t n_left, std::vector<Edge>& edges);

    std::vector<Lane> lanes_;
};

} // namespace schedscope
