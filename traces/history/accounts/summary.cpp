#include "traces/history/accounts/summary.h"

#include "runtime/numbers.h"
#include "runtime/system/joined.h"
#include "traces/history/accounts/memory.h"
#include "traces/history/accounts/passes.h"
#include "traces/history/words/unknown.h"
#include "traces/history/words/words.h"

#include <algorithm>
#include <map>

namespace schedscope::accounts {

std::string UnfinishedPlan::told() const {
    const std::string where = pass == Pass::none ? "has no end" : joined({"ends ", over ? "after " : "in ", words::pass(pass)});
    return "the plan " + where + ": the recording stopped there";
}

std::optional<UnfinishedPlan> unfinished_plan(History& history, EvaluationId planned) {
    using namespace record;
    const Step last =
        history.source().previous_of(history.evaluation(planned).end, fact_set<PlanBegin, PlanEnd, EvaluationEnd>());
    if (last == no_step || !std::holds_alternative<PlanBegin>(history.record(last).fact)) {
        return std::nullopt;
    }
    const std::vector<PassRow> rows = passes(history, planned);
    return rows.empty() ? UnfinishedPlan() : UnfinishedPlan{rows.back().pass, rows.back().end != no_step};
}

Summary summary(History& history, EvaluationId evaluation) {
    const RecordSource& source = history.source();
    Summary s;
    s.steps = history.n_steps();
    s.evaluations = history.n_evaluations();
    s.graphs = source.n_graphs();
    if (s.steps > 0) {
        s.first_ns = history.record(0).time_ns;
        s.last_ns = history.record(s.steps - 1).time_ns;
    }
    s.plans = int_of(source.count(fact_bit<record::PlanBegin>()));
    if (source.count(fact_bit<record::Verdict>()) > 0) { // elsewhere each plan is there
        source.for_each_of(fact_bit<record::EvaluationBegin>(), 0, s.steps, [&](const Record& r) {
            const auto& begin = std::get<record::EvaluationBegin>(r.fact);
            s.plans += begin.repeats_plan(r.evaluation) ? 1 : 0;
            s.reserves += begin.kind == GraphKind::reserve ? 1 : 0;
        });
    }
    if (history.knows(Topic::tokens)) {
        s.tokens = source.count(fact_bit<record::NextToken>());
    }
    s.failed = int_of(source.count_failed());

    s.last_planned = history.last_planned();
    s.last_is_unfinished = s.last_planned >= 0 && unfinished_plan(history, s.last_planned);
    s.evaluation = evaluation < 0 ? history.opening() : evaluation;
    if (s.evaluation < 0) {
        return s;
    }
    const PlanState& state = history.plan(s.evaluation);
    const OwnedGraph* graph = history.graph_of(state);
    if (graph == nullptr) {
        return s;
    }
    s.unfinished = unfinished_plan(history, state.planned_in);
    const Step begin = source.previous_of(history.evaluation(state.planned_in).end, fact_bit<record::PlanBegin>());
    const auto plan = begin == no_step ? record::PlanBegin{} : std::get<record::PlanBegin>(history.record(begin).fact);
    s.nodes = plan.n_nodes ? std::optional(n_of(graph->nodes)) : std::nullopt;
    s.leafs = plan.n_leafs ? std::optional(n_of(graph->leafs)) : std::nullopt;
    s.splits = n_of(state.splits);
    s.copies = n_of(state.copies);
    s.all_copies_known = knows_all_inputs(state);
    const RecordedSizes sizes(history, state);
    s.copied = sizes.of_copies(state);
    s.to_copy = sizes.of_inputs(state);
    for (const SplitState& split : state.splits) {
        s.inputs += n_of(split.inputs);
    }
    const bool ran = !state.executed.empty() ||
                     std::any_of(state.splits.begin(), state.splits.end(), [](const SplitState& x) { return x.ran != no_step; });
    s.moved_bytes = state.copies.empty() && ran ? std::optional<int64_t>(0) : moved_bytes(state);
    for (const record::CopyMade& copy : state.copies) {
        s.input_copies += copy.graph_input ? 1 : 0;
    }
    s.stages = n_stages(state);
    std::map<std::tuple<int, std::string, BackendId>, int32_t>
        operators; // the unknown first, the others in the catalogue's order
    for (const TensorId node : graph->nodes) {
        const TensorInfo& info = graph->tensors[node];
        if (is_left_out(info)) {
            ++s.nodes_left_out;
        } else {
            const bool known = info.op.has_value();
            ++operators[{known ? ordinal(*info.op) : -1, operator_text(info), state.tensors[node].backend}];
        }
    }
    for (const auto& [what, n] : operators) {
        s.operators.push_back({std::get<1>(what), std::get<2>(what), n});
    }
    std::stable_sort(s.operators.begin(), s.operators.end(), [](const auto& a, const auto& b) { return a.nodes > b.nodes; });
    const std::vector<record::BufferSize> buffers = compute_buffers(history, state);
    s.compute = buffers.empty() && !history.knows(Topic::memory)
                    ? SizeSum{0, false}
                    : compute_size(history.session(), scheduler_of(history, state.planned_in), buffers);
    return s;
}

} // namespace schedscope::accounts
