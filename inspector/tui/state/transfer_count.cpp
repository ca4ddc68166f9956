#include "inspector/tui/state/transfer_count.h"

#include <algorithm>

namespace schedscope::tui {

void TransferCount::update(InspectorSession& session) {
    constexpr FactSet kinds = fact_bit<record::Transfer>();
    const RecordSource& source = session.history().source();
    source.for_each_of(kinds, counted_ + 1, session.step() + 1, [&](const Record& record) {
        const auto& f = std::get<record::Transfer>(record.fact);
        std::vector<Moved>& moved = moved_[{source.evaluation(record.evaluation).begin.planned_in, f.copy}];
        Sum sum = moved.empty() ? Sum{} : moved.back().until;
        ++sum.times;
        sum.bytes += std::max<int64_t>(f.bytes, 0);
        sum.time += f.end_ns - f.start_ns;
        moved.push_back({record.step, sum});
    });
    counted_ = std::max(counted_, session.step());
}

TransferCount::Sum TransferCount::of(const InspectorSession& session, TensorId copy) const {
    const auto found = moved_.find({session.state().planned_in, copy});
    if (found == moved_.end()) {
        return {};
    }
    const std::vector<Moved>& moved = found->second;
    const auto behind =
        std::upper_bound(moved.begin(), moved.end(), session.step(), [](Step step, const Moved& m) { return step < m.step; });
    return behind == moved.begin() ? Sum{} : std::prev(behind)->until;
}

} // namespace schedscope::tui
