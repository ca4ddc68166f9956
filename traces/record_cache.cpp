#include "traces/record_cache.h"

#include "runtime/error.h"

#include <algorithm>

namespace schedscope {

RecordCache::Chunk& RecordCache::chunk(Step index) {
    auto found = by_index_.find(index);
    if (found == by_index_.end()) {
        if (chunks_.size() == size_.most) {
            by_index_.erase(chunks_.back().index);
            chunks_.splice(chunks_.begin(), chunks_, std::prev(chunks_.end())); // its memory is used again
            chunks_.front().records.clear();
        } else {
            chunks_.emplace_front();
        }
        chunks_.front().index = index;
        chunks_.front().end = index * size_.chunk;
        found = by_index_.emplace(index, chunks_.begin()).first;
    } else if (found->second != chunks_.begin()) {
        chunks_.splice(chunks_.begin(), chunks_, found->second);
    }
    return *found->second;
}

RecordCache::Part RecordCache::part(Step step) {
    if (step < 0 || step >= source_.n_steps()) {
        throw Error(ErrorKind::usage, "step " + std::to_string(step) + ": there are " + std::to_string(source_.n_steps()));
    }
    Chunk& c = chunk(step / size_.chunk);
    if (step >= c.end) {
        const Step end = std::min(source_.n_steps(), (c.index + 1) * size_.chunk);
        const size_t known = c.records.size();
        try {
            source_.read_wanted(c.end, end, wanted_, c.records);
        } catch (...) {
            c.records.resize(known);
            throw;
        }
        c.end = end;
    }
    const auto first = std::lower_bound(c.records.begin(), c.records.end(), step,
                                        [](const Record& record, Step wanted) { return record.step < wanted; });
    return {std::span<const Record>(first, c.records.end()), c.end};
}

} // namespace schedscope
