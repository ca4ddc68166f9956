#pragma once

#include "runtime/planner/rules.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace schedscope {

/// Offsets within the chunks of one buffer type's compute buffer. Only counts; the memory itself is in ComputeBuffers.
/// A chunk is as large as a buffer of that type may be; the 16th is unlimited, and so is a chunk made for a tensor that fits
/// nowhere else.
class Arena {
public:
    struct Place {
        int16_t chunk = 0;
        int64_t offset = 0;
    };

    /// Forgets all places; the memory of its lists is kept. Sizes are rounded up to `alignment` (bytes); `max_size` < 0:
    /// unlimited.
    void reset(int64_t alignment, int64_t max_size, const PlannerRules& rules = {});
    /// Best fit among the gaps; else at the end of the chunk that grows least; else in a new chunk.
    Place take(int64_t size);
    void give_back(Place place, int64_t size);

    int64_t rounded(int64_t size) const noexcept { return (size + alignment_ - 1) / alignment_ * alignment_; }
    size_t n_chunks() const noexcept { return n_chunks_; }
    /// Bytes that the chunk needs for all that was in it at the same time.
    int64_t peak(size_t chunk) const noexcept { return chunks_[chunk].peak; }

private:
    struct Block {
        int64_t offset = 0, size = 0;
        int64_t end() const noexcept { return offset + size; }
    };
    struct Chunk {
        std::vector<Block> free; ///< by offset, neighbours merged
        int64_t peak = 0;
    };
    struct Fit {
        size_t chunk = 0, block = 0;
        bool found = false;
    };

    Fit fit_gap(int64_t size) const;
    Fit fit_end(int64_t size) const;
    Fit new_chunk(int64_t size);

    std::vector<Chunk> chunks_; ///< only the first n_chunks_ count
    size_t n_chunks_ = 0;
    int64_t alignment_ = 1, max_size_ = 0;
    bool first_open_chunk_ = false; ///< grows; else the one that grows least
};

} // namespace schedscope
