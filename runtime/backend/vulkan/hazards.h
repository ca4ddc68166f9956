#pragma once

#include "runtime/backend/vulkan/loader.h"

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

namespace schedscope::vulkan {

/// Bytes [start, end) of a buffer. For a tensor: what is bound, from an aligned place on.
struct BoundBytes {
    VkBuffer buffer = VK_NULL_HANDLE;
    uint64_t start = 0, end = 0;
};

/// What the work since the last barrier reads and writes: tells which work must wait for it.
class Hazards {
public:
    /// Notes one piece of work. True: a barrier must come before it, and what was noted until then is forgotten.
    bool barrier_before(std::span<const BoundBytes> reads, const BoundBytes& write) {
        const bool hazard =
            overlaps_any(write, written_) || overlaps_any(write, read_) ||
            std::any_of(reads.begin(), reads.end(), [this](const BoundBytes& w) { return overlaps_any(w, written_); });
        if (hazard) {
            clear();
        }
        written_.push_back(write);
        read_.insert(read_.end(), reads.begin(), reads.end());
        return hazard;
    }
    void clear() noexcept {
        written_.clear();
        read_.clear();
    }

private:
    static bool overlaps_any(const BoundBytes& w, const std::vector<BoundBytes>& others) noexcept {
        return std::any_of(others.begin(), others.end(),
                           [&w](const BoundBytes& o) { return w.buffer == o.buffer && w.start < o.end && o.start < w.end; });
    }

    std::vector<BoundBytes> written_, read_;
};

} // namespace schedscope::vulkan
