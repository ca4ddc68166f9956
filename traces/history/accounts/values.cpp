// A value is a Value record with its first elements and buckets behind it. A difference is a Difference record, and where the
// node was watched, the values of both backends before it.

#include "traces/history/accounts/values.h"

#include "traces/history/words/unknown.h"

#include <algorithm>

namespace schedscope::accounts {

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

DifferenceRow difference_row(History& history, const DifferenceState& state) {
    const record::Difference& d = state.difference;
    DifferenceRow row;
    row.step = state.step;
    row.eval = history.evaluation_of(state.step);
    row.id = d.tensor;
    row.tensor = history.tensor_name_at(state.step, d.tensor);
    if (const TensorInfo* info = history.tensor_at(state.step, d.tensor)) {
        row.op = operator_text(*info);
        row.ne = info->ne.value_or(Shape{});
    }
    row.names = {std::string(history.source().text(d.device)), history.backend_name(d.backend),
                 std::string(history.source().text(d.why))};
    row.difference = d;
    return row;
}

std::vector<DifferenceRow> differences(History& history, const PlanState& state) {
    std::vector<DifferenceRow> rows;
    if (state.evaluation >= 0) {
        for (const DifferenceState& each :
             std::vector<DifferenceState>(state.differences)) { // names are looked up in other states
            rows.push_back(difference_row(history, each));
        }
        return rows;
    }
    const FactSet kind = fact_bit<record::Difference>();
    history.source().for_each_of(kind, 0, history.n_steps(), [&](const Record& r) {
        rows.push_back(difference_row(history, {r.step, std::get<record::Difference>(r.fact)}));
    });
    return rows;
}

DifferenceCount count_differences(const RecordSource& source, Step until) {
    DifferenceCount count;
    if (source.next_of(-1, fact_bit<record::Difference>()) == no_step) {
        return count; // without looking at each record
    }
    source.for_each_of(fact_bit<record::Difference>(), 0, std::min(until + 1, source.n_steps()), [&](const Record& r) {
        const auto& d = std::get<record::Difference>(r.fact);
        ++(d.compared ? count.compared : count.skipped);
        if (d.beyond) {
            ++count.beyond;
            count.first_beyond = count.first_beyond == no_step ? r.step : count.first_beyond;
        }
    });
    return count;
}

} // namespace schedscope::accounts
