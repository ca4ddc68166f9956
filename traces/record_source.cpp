#include "traces/record_source.h"

#include <algorithm>

namespace schedscope {

namespace {

constexpr Step chunk = 4096;

} // namespace

int64_t RecordSource::count(FactSet kinds) const {
    int64_t n = 0;
    for (Step at = next_of(-1, kinds); at != no_step; at = next_of(at, kinds)) {
        ++n;
    }
    return n;
}

int64_t RecordSource::count_failed() const {
    constexpr FactSet ends = fact_bit<record::EvaluationEnd>();
    int64_t n = 0;
    std::vector<Record> found;
    for (Step at = next_of(-1, ends); at != no_step; at = next_of(at, ends)) {
        found.clear();
        read(at, at + 1, found);
        n += std::get<record::EvaluationEnd>(found.front().fact).failed ? 1 : 0;
    }
    return n;
}

Step RecordSource::next_of(Step from, FactSet kinds) const {
    std::vector<Record> records;
    const Step n = n_steps();
    for (Step at = std::max<Step>(from + 1, 0); at < n; at += chunk) {
        records.clear();
        read(at, std::min(at + chunk, n), records);
        for (const Record& record : records) {
            if ((fact_bit(record.fact) & kinds) != 0) {
                return record.step;
            }
        }
    }
    return no_step;
}

Step RecordSource::previous_of(Step from, FactSet kinds) const {
    std::vector<Record> records;
    for (Step end = std::min(from, n_steps()); end > 0; end -= chunk) {
        records.clear();
        read(std::max<Step>(end - chunk, 0), end, records);
        for (auto record = records.rbegin(); record != records.rend(); ++record) {
            if ((fact_bit(record->fact) & kinds) != 0) {
                return record->step;
            }
        }
    }
    return no_step;
}

} // namespace schedscope
