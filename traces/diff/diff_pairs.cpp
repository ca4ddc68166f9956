// Which evaluation of one trace is which of another.

#include "traces/diff/diff.h"

#include <algorithm>
#include <map>

namespace schedscope::diff {

namespace {

struct Evaluation {
    EvaluationId id = 0;
    std::optional<int32_t> n_tokens, n_sequences, n_outputs;

    bool same_shape(const Evaluation& other) const noexcept {
        return n_tokens == other.n_tokens && n_sequences == other.n_sequences && n_outputs == other.n_outputs;
    }
};

using EvaluationsByKind = std::map<std::optional<GraphKind>, std::vector<Evaluation>>;

EvaluationsByKind by_kind(const RecordSource& source) {
    EvaluationsByKind kinds;
    for (EvaluationId id = 0; id < source.n_evaluations(); ++id) {
        const record::EvaluationBegin begin = source.evaluation(id).begin;
        kinds[begin.kind].push_back({id, begin.n_tokens, begin.n_sequences, begin.n_outputs});
    }
    return kinds;
}

} // namespace

/// Within a kind: those of the same shape from the beginning, those of the same shape from the end, then what is left in between
/// in its order.
std::vector<std::pair<EvaluationId, EvaluationId>> pair_evaluations(const RecordSource& a, const RecordSource& b) {
    std::vector<EvaluationId> partner_of_a(a.n_evaluations(), -1);
    std::vector<bool> taken(b.n_evaluations(), false);
    const auto pair = [&](const Evaluation& x, const Evaluation& y) {
        partner_of_a[x.id] = y.id;
        taken[y.id] = true;
    };
    auto kinds_b = by_kind(b);
    for (const auto& [kind, of_a] : by_kind(a)) {
        const std::vector<Evaluation>& of_b = kinds_b[kind];
        size_t first = 0, end_a = of_a.size(), end_b = of_b.size();
        for (; first < end_a && first < end_b && of_a[first].same_shape(of_b[first]); ++first) {
            pair(of_a[first], of_b[first]);
        }
        for (; end_a > first && end_b > first && of_a[end_a - 1].same_shape(of_b[end_b - 1]); --end_a, --end_b) {
            pair(of_a[end_a - 1], of_b[end_b - 1]);
        }
        for (; first < end_a && first < end_b; ++first) {
            pair(of_a[first], of_b[first]);
        }
    }
    std::vector<std::pair<EvaluationId, EvaluationId>> pairs;
    EvaluationId next_b = 0;
    const auto only_b_before = [&](EvaluationId end) {
        for (; next_b < end; ++next_b) {
            if (!taken[next_b]) {
                pairs.emplace_back(-1, next_b);
            }
        }
    };
    for (EvaluationId id = 0; id < a.n_evaluations(); ++id) {
        const EvaluationId partner = partner_of_a[id];
        only_b_before(partner);
        pairs.emplace_back(id, partner);
    }
    only_b_before(b.n_evaluations());
    return pairs;
}

} // namespace schedscope::diff
