#include "traces/store/record_cache.h"

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

/// Chunks that aren't there yet, in one go: the first one, and those behind it up to the one that `until` lies in or to one that
/// is there.
void RecordCache::read_ahead(Step first, Step until) {
    const Step most = std::min<Step>(65536 / size_.chunk, size_.most);
    Step end = first + 1;
    while (end < first + most && end * size_.chunk < std::min(until, source_.n_steps()) && !by_index_.contains(end)) {
        ++end;
    }
    if (end - first < 2) {
        return;
    }
    std::vector<Record> records;
    const Step last = std::min(source_.n_steps(), end * size_.chunk);
    source_.read_wanted(first * size_.chunk, last, wanted_, records);
    auto next = records.begin();
    for (Step index = first; index < end; ++index) {
        const Step chunk_end = std::min(last, (index + 1) * size_.chunk);
        const auto behind = std::lower_bound(next, records.end(), chunk_end,
                                             [](const Record& record, Step wanted) { return record.step < wanted; });
        Chunk& c = chunk(index);
        c.records.assign(next, behind);
        c.end = chunk_end;
        next = behind;
    }
}

RecordCache::Part RecordCache::part(Step step, Step until) {
    if (step < 0 || step >= source_.n_steps()) {
        throw Error(ErrorKind::usage, "step " + std::to_string(step) + ": there are " + std::to_string(source_.n_steps()));
    }
    if (until > step && !by_index_.contains(step / size_.chunk)) {
        read_ahead(step / size_.chunk, until);
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
