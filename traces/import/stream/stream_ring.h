#pragma once

#include "traces/import/stream/stream_block.h"

#include <cstddef>
#include <cstdint>
#include <optional>

struct sscp_ring;

namespace schedscope::import {

/// The reading end of a stream in memory that is shared with the program that writes it (sscp_open_ring). The program may
/// write anything there, and may be killed at any moment; neither makes this hang or read beyond the memory. One thread
/// reads.
class StreamRing {
public:
    /// `memory`: at a multiple of 8, zeros before the writer begins; it outlives this. Throws Error(usage) where it is too small.
    StreamRing(void* memory, size_t bytes);

    /// The next block, if it is complete; nothing: there is none yet. Throws Damage for what no writer leaves.
    std::optional<StreamBlock> next();
    /// Nothing is written any more: blocks that are not complete are passed over from now on, each counted.
    void writer_is_gone() noexcept { gone_ = true; }

    int64_t lost() const noexcept { return lost_; } ///< blocks that were passed over
    uint64_t dropped() const noexcept;              ///< blocks that the writer had no room for

    enum class Woken : uint8_t { looks, gone, late };
    /// Sleeps until there may be a block. `wake`: the other end of the writer's socket, which says as well that it is gone; a
    /// deadline in ms, −1: none.
    Woken wait(int wake, int timeout_ms);

private:
    bool has_begun() noexcept;
    std::optional<StreamBlock> find_next();
    uint64_t reserved() const;
    uint64_t mark() const noexcept;
    void copy(uint64_t place, std::span<std::byte> into) const noexcept;
    void give_back(uint64_t bytes, uint64_t used) noexcept;

    sscp_ring* ring_;
    std::byte* data_;
    uint64_t capacity_, taken_ = 0;
    bool gone_ = false, in_hole_ = false;
    int64_t lost_ = 0;
};

} // namespace schedscope::import
