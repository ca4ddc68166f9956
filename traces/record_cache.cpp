#include "traces/record_cache.h"

#include "runtime/error.h"

#include <algorithm>

namespace schedscope {

std::span<const Record> RecordCache::from(Step step) {
    const Step index = step < 0 ? -1 : step / chunk;
    auto found = by_index_.find(index);
    if (found == by_index_.end()) {
        if (step < 0 || step >= source_.n_steps()) {
            throw Error(ErrorKind::usage, "step " + std::to_string(step) + ": there are " + std::to_string(source_.n_steps()));
        }
        if (chunks_.size() == max_chunks) {
            by_index_.erase(chunks_.back().index);
            chunks_.splice(chunks_.begin(), chunks_, std::prev(chunks_.end())); // its memory is used again
            chunks_.front().records.clear();
        } else {
            chunks_.emplace_front();
        }
        chunks_.front().index = index;
        found = by_index_.emplace(index, chunks_.begin()).first;
    } else if (found->second != chunks_.begin()) {
        chunks_.splice(chunks_.begin(), chunks_, found->second);
    }
    Chunk& c = *found->second;
    const auto offset = static_cast<size_t>(step - index * chunk);
    if (offset >= c.records.size()) {
        const Step known = index * chunk + static_cast<Step>(c.records.size());
        const Step end = std::min(source_.n_steps(), (index + 1) * chunk);
        if (step >= end) {
            throw Error(ErrorKind::usage, "step " + std::to_string(step) + ": there are " + std::to_string(source_.n_steps()));
        }
        try {
            source_.read(known, end, c.records);
        } catch (...) {
            c.records.resize(static_cast<size_t>(known - index * chunk));
            throw;
        }
    }
    return std::span<const Record>(c.records).subspan(offset);
}

} // namespace schedscope
