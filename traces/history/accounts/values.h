#pragma once

#include "traces/history/history.h"
#include "traces/history/words/difference_words.h"

#include <optional>
#include <string>
#include <vector>

/// The values of watched tensors, and what a verification found.
namespace schedscope::accounts {

struct ValueRow {
    EvaluationId eval = 0;
    TensorId id = no_tensor;
    std::string tensor;
    std::string device;             ///< that computed it once more, to be compared; empty: what its backend computed
    record::Value value;            ///< min to norm NaN: no element is finite
    std::vector<int64_t> histogram; ///< [record::n_value_buckets] finite elements in equal parts from min to max
    std::vector<double> first;      ///< its first elements, in order
};

/// A node on two backends.
struct DifferenceRow {
    Step step = no_step;
    EvaluationId eval = 0;
    TensorId id = no_tensor;
    std::string tensor, op;
    Shape ne{};
    words::DifferenceNames names;
    record::Difference difference;
};

struct DifferenceCount {
    int64_t compared = 0, skipped = 0, beyond = 0;
    Step first_beyond = no_step;
};

/// What the watched tensors held, in order: in one evaluation up to the state's step; for evaluation −1 in the whole trace.
std::vector<ValueRow> values(History& history, const PlanState& state);
/// The same of one of them, from the records after `value` up to `until`.
ValueRow value_row(History& history, const ValueState& value, Step until);

/// What a verification found, in order: in one evaluation up to the state's step; in the whole trace for an evaluation of −1.
std::vector<DifferenceRow> differences(History& history, const PlanState& state);
DifferenceRow difference_row(History& history, const DifferenceState& state);
/// Of the whole trace up to a step.
DifferenceCount count_differences(const RecordSource& source, Step until);

} // namespace schedscope::accounts
