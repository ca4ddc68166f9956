// How much of everything two plans have.

#include "runtime/numbers.h"
#include "traces/diff/diff_parts.h"
#include "traces/history/accounts/copies.h"
#include "traces/history/accounts/memory.h"

namespace schedscope::diff {

namespace {

/// Measures of one plan, in order.
struct PlanMeasure {
    std::string name;
    bool is_bytes = false;
    std::optional<int64_t> amount; ///< nothing: not known
};

std::vector<PlanMeasure> measure(const PlanSide& side) {
    std::vector<PlanMeasure> measures;
    const std::vector<BackendInfo>& backends = side.history.session().backends;
    for (size_t b = 0; b < backends.size(); ++b) {
        int64_t n = 0;
        for (const TensorId node : side.graph.nodes) {
            n += side.assigned(node).backend == narrow<BackendId>(b) ? 1 : 0;
        }
        measures.push_back({"nodes on " + backends[b].name, false, n});
    }
    const auto count = [](const auto& list) { return list.size(); };
    measures.push_back({"splits", false, count(side.state.splits)});
    measures.push_back({"copies", false, count(side.state.copies)});
    measures.push_back({"bytes copied", true, accounts::input_sizes(side.state).known()});
    measures.push_back({"fused groups", false, count(side.state.fusions)});
    for (const accounts::MemoryRow& row : accounts::memory(side.history, side.state).memory) {
        measures.push_back({row.buffer_type + " compute buffer", true, row.size});
    }
    measures.push_back({"memory planned again", false, count(side.state.reallocations)});
    return measures;
}

} // namespace

DiffSummary summarise(const PlanPair& plans) {
    DiffSummary summary;
    summary.eval_a = plans.a.state.evaluation;
    summary.eval_b = plans.b.state.evaluation;
    summary.kind = plans.a.history.evaluation(summary.eval_a).begin.kind;
    for (const PlanMeasure& m : measure(plans.a)) {
        summary.measures.push_back({m.name, m.is_bytes, false, m.amount, std::nullopt});
    }
    size_t at = 0; // what only b has stands behind what it stands behind there
    for (const PlanMeasure& m : measure(plans.b)) {
        size_t found = 0;
        while (found < summary.measures.size() && summary.measures[found].name != m.name) {
            ++found;
        }
        if (found == summary.measures.size()) {
            found = at;
            summary.measures.insert(summary.measures.begin() + found, {m.name, m.is_bytes, false, std::nullopt, std::nullopt});
        }
        summary.measures[found].b = m.amount;
        at = found + 1;
    }
    return summary;
}

} // namespace schedscope::diff
