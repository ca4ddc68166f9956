#pragma once

#include "traces/record_source.h"

#include <list>
#include <span>
#include <unordered_map>

namespace schedscope {

/// Records of a source in chunks, the most recently used kept. Follows a source that grows.
class RecordCache {
public:
    static constexpr Step chunk = 4096;

    explicit RecordCache(const RecordSource& source) : source_(source) {}

    /// The records from `step` to the end of its chunk, as far as they are written; never empty. Valid until the next call.
    /// Throws Error(usage) when the source has no such step.
    std::span<const Record> from(Step step);
    const Record& at(Step step) { return from(step).front(); }

private:
    static constexpr size_t max_chunks = 64;
    struct Chunk {
        Step index = 0;
        std::vector<Record> records;
    };
    const RecordSource& source_;
    std::list<Chunk> chunks_; ///< most recently used first
    std::unordered_map<Step, std::list<Chunk>::iterator> by_index_;
};

} // namespace schedscope
