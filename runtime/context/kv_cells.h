#pragma once

#include "runtime/context/batch.h"
#include "runtime/numbers.h"

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace schedscope {

/// Which token lies in which cell of the KV cache. A cell holds one position of one or more sequences; a token's cells need not
/// lie side by side. Ranges of positions are [from, to); to < 0: to the end.
class KvCells {
public:
    explicit KvCells(int32_t n_cells) : size_(n_cells) {}

    int32_t size() const noexcept { return size_; }
    int32_t used() const noexcept { return used_; }
    /// One behind the last used cell.
    int32_t used_end() const noexcept;
    int32_t position(int32_t cell) const noexcept { return was_taken(cell) ? cells_[cell].position : -1; } ///< −1: free
    SequenceSet sequences(int32_t cell) const noexcept { return was_taken(cell) ? cells_[cell].sequences : 0; }

    /// Free cells for n tokens, in order; nothing when there are not enough. They are not taken yet.
    bool find(int32_t n, std::vector<int32_t>& cells) const;
    void take(int32_t cell, int32_t position, SequenceSet sequences);
    void release(int32_t cell) noexcept;

    void clear() noexcept;
    /// sequence < 0: all sequences.
    void remove(int32_t sequence, int32_t from, int32_t to);
    /// The tokens of `source` in the range belong to `target`, too.
    void copy(int32_t source, int32_t target, int32_t from, int32_t to);
    /// Adds `delta` to positions; the keys in these cells must then be turned by as much (`take_shifts`). Cells that would become
    /// negative are freed.
    void shift(int32_t sequence, int32_t from, int32_t to, int32_t delta);
    /// Positions by which each cell moved since the last call, [size]; nothing when none did.
    std::optional<std::vector<int32_t>> take_shifts();

private:
    struct Cell {
        int32_t position = -1;
        int32_t shifted = 0;
        SequenceSet sequences = 0;
    };

    bool was_taken(int32_t cell) const noexcept { return cell < n_of(cells_); }

    int32_t size_;
    std::vector<Cell> cells_; ///< the first of them; those behind were never taken
    int32_t used_ = 0;
    int32_t head_ = 0; ///< where the search for free cells begins
    bool any_shift_ = false;
};

} // namespace schedscope
