#pragma once

#include "traces/store/record_source.h"

#include <list>
#include <span>
#include <unordered_map>

namespace schedscope {

/// Records of a source in chunks of so many steps, the most recently used kept. Follows a source that grows.
class RecordCache {
public:
    struct CacheSize {
        Step chunk = 256;  ///< steps; few where the records that are asked for lie far apart
        size_t most = 512; ///< chunks that are kept
    };
    explicit RecordCache(const RecordSource& source) : RecordCache(source, CacheSize(), {}) {}
    RecordCache(const RecordSource& source, CacheSize size, Wanted wanted) : source_(source), size_(size), wanted_(wanted) {}

    /// The wanted records of the steps [step, end), from `step` to the end of its chunk as far as that is written. Valid until
    /// the next call. until: the records up to here will be asked for too; they are read together. Throws Error(usage) when the
    /// source has no such step.
    struct Part {
        std::span<const Record> records;
        Step end = 0;
    };
    Part part(Step step, Step until = no_step);

    /// Where all kinds are wanted: never empty, the first one is the step's.
    std::span<const Record> from(Step step) { return part(step).records; }
    const Record& at(Step step) { return from(step).front(); }

    /// Calls f(record) for the wanted records before `step`, the last one first, until it returns false. It must not ask the
    /// cache itself.
    template <typename F> void backward(Step step, F&& f) {
        for (step = std::min(step, source_.n_steps()); step > 0;) {
            const Step begin = (step - 1) / size_.chunk * size_.chunk;
            const std::span<const Record> records = part(begin).records;
            for (auto record = records.rbegin(); record != records.rend(); ++record) {
                if (record->step < step && !f(*record)) {
                    return;
                }
            }
            step = begin;
        }
    }

private:
    struct Chunk {
        Step index = 0;
        Step end = 0; ///< known up to here
        std::vector<Record> records;
    };
    Chunk& chunk(Step index);
    void read_ahead(Step first, Step until);

    const RecordSource& source_;
    CacheSize size_;
    Wanted wanted_;
    std::list<Chunk> chunks_; ///< most recently used first
    std::unordered_map<Step, std::list<Chunk>::iterator> by_index_;
};

} // namespace schedscope
