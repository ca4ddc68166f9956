// How much of everything two plans have.

#include "runtime/numbers.h"
#include "traces/diff/diff_parts.h"
#include "traces/history/accounts/copies.h"
#include "traces/history/accounts/memory.h"

namespace schedscope::diff {

namespace {

/// Of one plan, as a, in order.
std::vector<Measure> measure(const PlanSide& side) {
    std::vector<Measure> measures;
    const std::vector<BackendInfo>& backends = side.history.session().backends;
    for (size_t b = 0; b < backends.size(); ++b) {
        std::optional<int64_t> n; // a plan without any is one of a log of splits alone
        for (const TensorId node : side.graph.nodes) {
            n = n.value_or(0) + (side.assigned(node).backend == narrow<BackendId>(b) ? 1 : 0);
        }
        measures.push_back({"nodes on " + side.backend(narrow<BackendId>(b)), Measure::Unit::count, n, {}});
    }
    const auto count = [&](const char* name, const auto& list) {
        measures.push_back({name, Measure::Unit::count, list.size(), {}});
    };
    const auto count_if_known = [&](Topic topic, const char* name, const auto& list) {
        list.empty() && !side.history.knows(topic) ? measures.push_back({name, Measure::Unit::count, {}, {}}) : count(name, list);
    };
    count("splits", side.state.splits);
    accounts::knows_all_inputs(side.state) ? count("copies", side.state.copies)
                                           : measures.push_back({"copies", Measure::Unit::count, {}, {}});
    measures.push_back({"bytes copied", Measure::Unit::bytes, accounts::input_sizes(side.state).known(), {}});
    count_if_known(Topic::fusion, "fused groups", side.state.fusions);
    for (const accounts::MemoryRow& row : accounts::memory(side.history, side.state).memory) {
        measures.push_back(
            {side.devices.buffer_type(row.buffer_type) + " compute buffer", Measure::Unit::bytes, row.size.known(), {}});
    }
    count_if_known(Topic::memory, "memory planned again", side.state.reallocations);
    return measures;
}

} // namespace

DiffSummary summarise(const PlanPair& plans) {
    DiffSummary summary;
    summary.eval_a = plans.a.state.evaluation;
    summary.eval_b = plans.b.state.evaluation;
    summary.kind = kind_of(plans.a.history, plans.b.history, {summary.eval_a, summary.eval_b});
    summary.measures = measure(plans.a);
    size_t at = 0; // what only b has stands behind what it stands behind there
    for (const Measure& m : measure(plans.b)) {
        size_t found = 0;
        while (found < summary.measures.size() && summary.measures[found].name != m.name) {
            ++found;
        }
        if (found == summary.measures.size()) {
            found = at;
            summary.measures.insert(summary.measures.begin() + found, {m.name, m.unit, {}, {}});
        }
        summary.measures[found].b = m.a;
        at = found + 1;
    }
    return summary;
}

} // namespace schedscope::diff
