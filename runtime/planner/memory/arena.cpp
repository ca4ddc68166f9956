#include "runtime/planner/memory/arena.h"

#include <algorithm>

namespace schedscope {

namespace {

constexpr size_t max_chunks = 16;
constexpr int64_t unlimited = INT64_MAX / 2;

} // namespace

void Arena::reset(int64_t alignment, int64_t max_size, const PlannerRules& rules) {
    alignment_ = std::max<int64_t>(alignment, 1);
    max_size_ = max_size < 0 || rules.one_chunk ? unlimited : std::min(max_size, unlimited);
    first_open_chunk_ = rules.first_open_chunk;
    n_chunks_ = 0;
}

Arena::Fit Arena::fit_gap(int64_t size) const {
    Fit fit;
    for (size_t c = 0; c < n_chunks_; ++c) {
        const std::vector<Block>& free = chunks_[c].free;
        int64_t best = INT64_MAX; // afresh in each chunk: any fit in a later chunk wins
        for (size_t i = 0; i + 1 < free.size(); ++i) {
            if (free[i].size >= size && free[i].size <= best) {
                best = free[i].size;
                fit = {c, i, true};
            }
        }
    }
    return fit;
}

Arena::Fit Arena::fit_end(int64_t size) const {
    Fit fit;
    int64_t best = INT64_MIN; // what stays unused of the peak; negative: how much the peak grows
    for (size_t c = 0; c < n_chunks_; ++c) {
        const Chunk& chunk = chunks_[c];
        if (chunk.free.empty() || chunk.free.back().size < size) {
            continue;
        }
        if (first_open_chunk_) {
            return {c, chunk.free.size() - 1, true};
        }
        const int64_t unused = chunk.peak - chunk.free.back().offset - size;
        const bool better = (best < 0 && unused > best) || (unused >= 0 && unused < best);
        if (better) {
            best = unused;
            fit = {c, chunk.free.size() - 1, true};
        }
    }
    return fit;
}

Arena::Fit Arena::new_chunk(int64_t size) {
    if (n_chunks_ == chunks_.size()) {
        chunks_.emplace_back();
    }
    // One past the limit only where the unlimited chunk itself is full.
    const bool no_limit = n_chunks_ + 1 >= max_chunks;
    Chunk& chunk = chunks_[n_chunks_];
    chunk.peak = 0;
    chunk.free.assign(1, {0, no_limit ? unlimited : std::max(size, max_size_)});
    return {n_chunks_++, 0, true};
}

Arena::Place Arena::take(int64_t size) {
    size = rounded(size);
    Fit fit = fit_gap(size);
    if (!fit.found) {
        fit = fit_end(size);
    }
    if (!fit.found) {
        fit = new_chunk(size);
    }
    Chunk& chunk = chunks_[fit.chunk];
    Block& block = chunk.free[fit.block];
    const Place place{static_cast<int16_t>(fit.chunk), block.offset};
    block.offset += size;
    block.size -= size;
    if (block.size == 0) {
        chunk.free.erase(chunk.free.begin() + fit.block);
    }
    chunk.peak = std::max(chunk.peak, place.offset + size);
    return place;
}

void Arena::give_back(Place place, int64_t size) {
    std::vector<Block>& free = chunks_[place.chunk].free;
    const Block given{place.offset, rounded(size)};
    const auto next =
        std::lower_bound(free.begin(), free.end(), given.offset, [](const Block& b, int64_t at) { return b.offset < at; });
    const bool joins_next = next != free.end() && given.end() == next->offset;
    const bool joins_previous = next != free.begin() && std::prev(next)->end() == given.offset;
    if (joins_previous && joins_next) {
        std::prev(next)->size += given.size + next->size;
        free.erase(next);
    } else if (joins_previous) {
        std::prev(next)->size += given.size;
    } else if (joins_next) {
        next->offset = given.offset;
        next->size += given.size;
    } else {
        free.insert(next, given);
    }
}

} // namespace schedscope
