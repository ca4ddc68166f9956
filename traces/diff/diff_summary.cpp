// How much of everything two plans have.

#include "runtime/numbers.h"
#include "runtime/ops/catalogue.h"
#include "traces/diff/diff_parts.h"
#include "traces/history/accounts/copies.h"
#include "traces/history/accounts/memory.h"

#include <algorithm>

namespace schedscope::diff {

namespace {

/// Nothing: the plan is of a log of splits alone. A log has no lines of views, wherever they are; a model may say that there are
/// some, and not where.
std::optional<Amount> nodes_on(const PlanSide& side, BackendId backend) {
    if (side.graph.nodes.empty()) {
        return std::nullopt;
    }
    Amount nodes(0, false, 0);
    for (const TensorId node : side.graph.nodes) {
        const TensorState at = side.assigned(node);
        if (at.backend == backend) {
            const TensorInfo& t = side.graph.tensors[node];
            ++nodes.n;
            *nodes.listed += t.op && is_view_op(*t.op) ? 0 : 1;
        }
        nodes.at_least = nodes.at_least || !side.knows_where(at);
    }
    return nodes;
}

/// Of one plan, as a, in order.
std::vector<Measure> measure(const PlanSide& side) {
    std::vector<Measure> measures;
    const std::vector<BackendInfo>& backends = side.history.session().backends;
    for (size_t b = 0; b < backends.size(); ++b) {
        measures.push_back(
            {"nodes on " + side.backend(narrow<BackendId>(b)), Measure::Unit::count, nodes_on(side, narrow<BackendId>(b)), {}});
    }
    const auto count = [&](const char* name, const auto& list) {
        measures.push_back({name, Measure::Unit::count, list.size(), {}});
    };
    const auto count_if_known = [&](Topic topic, const char* name, const auto& list) {
        list.empty() && !side.history.knows(topic) ? measures.push_back({name, Measure::Unit::count, {}, {}}) : count(name, list);
    };
    count("splits", side.state.splits);
    measures.push_back(
        {"copies", Measure::Unit::count, Amount(std::ssize(side.state.copies), !accounts::knows_all_inputs(side.state)), {}});
    SizeSum copied = accounts::RecordedSizes(side.history, side.state).of_inputs(side.state);
    for (const SplitState& split : side.state.splits) {
        copied.complete = copied.complete && std::none_of(split.inputs.begin(), split.inputs.end(),
                                                          [&](const auto& input) { return side.rounds_down(input.tensor); });
    }
    measures.push_back({"bytes copied a run", Measure::Unit::bytes, Amount::of(copied), {}});
    count_if_known(Topic::fusion, "fused groups", side.state.fusions);
    for (const accounts::MemoryRow& row : accounts::memory(side.history, side.state).memory) {
        measures.push_back(
            {side.devices.compute_memory(row.buffer_type) + " compute buffer", Measure::Unit::bytes, Amount::of(row.size), {}});
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
