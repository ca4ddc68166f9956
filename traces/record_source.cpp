#include "traces/record_source.h"

#include <algorithm>

namespace schedscope {

namespace {

constexpr Step chunk = 4096;

} // namespace

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
