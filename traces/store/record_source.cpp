#include "traces/store/record_source.h"

#include <algorithm>

namespace schedscope {

void RecordSource::read_wanted(Step first, Step end, Wanted wanted, std::vector<Record>& out) const {
    const std::ptrdiff_t before = out.size();
    read(first, end, out);
    const auto unwanted = [&](const Record& record) { return (fact_bit(record.fact) & wanted.kinds) == 0; };
    out.erase(std::remove_if(out.begin() + before, out.end(), unwanted), out.end());
}

int64_t RecordSource::count(FactSet kinds) const {
    int64_t n = 0;
    for_each_of(kinds, 0, n_steps(), [&](const Record&) { ++n; });
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
    Step found = no_step;
    for_each(std::max<Step>(from + 1, 0), n_steps(), [&](const Record& record) {
        found = (fact_bit(record.fact) & kinds) != 0 ? record.step : no_step;
        return found == no_step;
    });
    return found;
}

Step RecordSource::previous_of(Step from, FactSet kinds) const {
    std::vector<Record> records;
    for (Step end = std::min(from, n_steps()); end > 0; end -= at_once) {
        records.clear();
        read(std::max<Step>(end - at_once, 0), end, records);
        for (auto record = records.rbegin(); record != records.rend(); ++record) {
            if ((fact_bit(record->fact) & kinds) != 0) {
                return record->step;
            }
        }
    }
    return no_step;
}

} // namespace schedscope
