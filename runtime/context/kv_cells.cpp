#include "runtime/context/kv_cells.h"

#include "runtime/numbers.h"

#include <algorithm>

namespace schedscope {

namespace {

bool in_range(int32_t position, int32_t from, int32_t to) noexcept { return position >= from && (to < 0 || position < to); }

} // namespace

int32_t KvCells::used_end() const noexcept {
    int32_t end = used_ == 0 ? 0 : n_of(cells_);
    while (end > 0 && position(end - 1) < 0) {
        --end;
    }
    return end;
}

bool KvCells::find(int32_t n, std::vector<int32_t>& cells) const {
    cells.clear();
    if (n > size() - used_) {
        return false;
    }
    // With plenty of room in front, begin there: the graph attends to all cells up to the last used one.
    const int32_t begin = head_ > used_ + 2 * n ? 0 : head_;
    for (int32_t i = 0; i < size() && n_of(cells) < n; ++i) {
        const int32_t cell = (begin + i) % size();
        if (position(cell) < 0) {
            cells.push_back(cell);
        }
    }
    return true;
}

void KvCells::take(int32_t cell, int32_t position, SequenceSet sequences) {
    if (!was_taken(cell)) {
        constexpr int32_t at_once = 256; // not with every token
        cells_.resize(std::min(size_, (cell / at_once + 1) * at_once));
    }
    cells_[cell] = {position, 0, sequences};
    ++used_;
    head_ = (cell + 1) % size();
}

void KvCells::release(int32_t cell) noexcept {
    if (position(cell) >= 0) {
        cells_[cell] = {};
        --used_;
        head_ = std::min(head_, cell);
    }
}

void KvCells::clear() noexcept {
    std::fill(cells_.begin(), cells_.end(), Cell{});
    used_ = 0;
    head_ = 0;
    any_shift_ = false;
}

void KvCells::remove(int32_t sequence, int32_t from, int32_t to) {
    const SequenceSet gone = sequence < 0 ? ~SequenceSet{0} : only_sequence(sequence);
    for (int32_t i = 0; i < n_of(cells_); ++i) {
        Cell& c = cells_[i];
        if (c.position >= 0 && (c.sequences & gone) != 0 && in_range(c.position, from, to)) {
            c.sequences &= ~gone;
            if (c.sequences == 0) {
                release(i);
            }
        }
    }
}

void KvCells::copy(int32_t source, int32_t target, int32_t from, int32_t to) {
    for (Cell& c : cells_) {
        if (c.position >= 0 && (c.sequences & only_sequence(source)) != 0 && in_range(c.position, from, to)) {
            c.sequences |= only_sequence(target);
        }
    }
}

void KvCells::shift(int32_t sequence, int32_t from, int32_t to, int32_t delta) {
    for (int32_t i = 0; i < n_of(cells_); ++i) {
        Cell& c = cells_[i];
        if (c.position < 0 || (c.sequences & only_sequence(sequence)) == 0 || !in_range(c.position, from, to)) {
            continue;
        }
        if (c.position + delta < 0) {
            release(i);
            continue;
        }
        c.position += delta;
        c.shifted += delta;
        any_shift_ = any_shift_ || c.shifted != 0;
    }
}

std::optional<std::vector<int32_t>> KvCells::take_shifts() {
    if (!any_shift_) {
        return std::nullopt;
    }
    std::vector<int32_t> shifts;
    shifts.reserve(size_);
    for (Cell& c : cells_) {
        shifts.push_back(c.shifted);
        c.shifted = 0;
    }
    shifts.resize(size_);
    any_shift_ = false;
    return shifts;
}

} // namespace schedscope
