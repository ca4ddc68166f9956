// The values of watched tensors: each is a Value record with its first elements and buckets behind it.

#include "traces/history/tables/tables.h"

namespace schedscope::tables {

ValueRow value_row(History& history, const ValueState& value, Step until) {
    ValueRow row;
    row.eval = history.evaluation_of(value.step);
    row.id = value.value.tensor;
    row.tensor = history.tensor_name_at(value.step, row.id);
    row.value = value.value;
    row.device = history.source().text(value.value.device);
    row.histogram.resize(record::n_value_buckets);
    for (Step at = value.step + 1; at <= until && at < history.n_steps(); ++at) {
        const Fact fact = history.record(at).fact;
        if (const auto* element = std::get_if<record::ValueElement>(&fact)) {
            row.first.push_back(element->value);
        } else if (const auto* bucket = std::get_if<record::ValueBucket>(&fact)) {
            row.histogram[bucket->index] += bucket->count;
        } else {
            break;
        }
    }
    return row;
}

std::vector<ValueRow> values(History& history, const PlanState& state) {
    std::vector<ValueRow> rows;
    if (state.evaluation < 0) {
        const FactSet kind = fact_bit<record::Value>();
        for (Step at = history.source().next_of(-1, kind); at != no_step; at = history.source().next_of(at, kind)) {
            rows.push_back(value_row(history, {at, std::get<record::Value>(history.record(at).fact)}, history.n_steps()));
        }
        return rows;
    }
    const Step until = state.step;
    for (const ValueState& value : std::vector<ValueState>(state.values)) { // names are looked up in other states
        rows.push_back(value_row(history, value, until));
    }
    return rows;
}

} // namespace schedscope::tables
