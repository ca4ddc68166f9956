// Tables of a plan: passes, assignments, splits, copies.

#include "runtime/numbers.h"
#include "traces/history/tables/tables.h"
#include "traces/history/words/unknown.h"

#include <algorithm>
#include <unordered_map>

namespace schedscope::tables {

namespace {

/// The last plan of an evaluation: where its records begin, and the evaluation's end.
struct PlanSpan {
    Step first = no_step, end = 0;
};

PlanSpan last_plan(const History& history, EvaluationId planned) {
    const EvaluationSpan span = history.evaluation(planned);
    const Step begin = history.source().previous_of(span.end, fact_bit<record::PlanBegin>());
    return begin < span.first ? PlanSpan{no_step, span.end} : PlanSpan{begin, span.end};
}

std::optional<int64_t> known(int64_t bytes) { return bytes < 0 ? std::nullopt : std::optional(bytes); }

/// Of the plan's records, those of these kinds.
template <typename F> void for_each_record(History& history, const PlanSpan& span, FactSet kinds, F&& f) {
    if (span.first != no_step) {
        history.source().for_each_of(kinds, span.first, span.end, f);
    }
}

/// What a pass runs from and to; a plan that failed has no end of the pass.
constexpr FactSet pass_bounds = fact_set<record::PassBegin, record::PassEnd, record::PlanEnd, record::EvaluationEnd>();

/// Counts, as the records go by, how many leafs and nodes have a backend.
class AssignmentCount {
public:
    explicit AssignmentCount(const OwnedGraph& graph) : listed_(graph.tensors.size(), 0), assigned_(graph.tensors.size(), 0) {
        for (const auto* list : {&graph.leafs, &graph.nodes}) {
            for (const TensorId id : *list) {
                n_listed_ += listed_[id] == 0 ? 1 : 0;
                listed_[id] = 1;
            }
        }
    }
    void add(const record::Assign& f) {
        const size_t id = f.tensor;
        if (f.tensor >= 0 && id < listed_.size() && listed_[id] != 0) {
            const uint8_t now = f.after == no_backend ? 0 : 1;
            n_assigned_ += now - assigned_[id];
            assigned_[id] = now;
        }
    }
    int32_t assigned() const noexcept { return n_assigned_; }
    int32_t unassigned() const noexcept { return n_listed_ - n_assigned_; }

private:
    std::vector<uint8_t> listed_, assigned_; ///< by tensor
    int32_t n_listed_ = 0, n_assigned_ = 0;
};

} // namespace

std::vector<PassRow> passes(History& history, EvaluationId planned) {
    std::vector<PassRow> rows;
    std::optional<AssignmentCount> counter;
    int64_t begin_ns = 0;
    bool open = false;
    const auto count = [&] {
        if (counter && !rows.empty()) {
            rows.back().assigned = counter->assigned();
            rows.back().unassigned = counter->unassigned();
        }
    };
    const auto finish = [&](Step end) {
        if (open) {
            rows.back().end = end;
            open = false;
        }
    };
    constexpr FactSet kinds = pass_bounds | fact_set<record::PlanBegin, record::Assign>();
    for_each_record(history, last_plan(history, planned), kinds, [&](const Record& r) {
        if (const auto* plan = std::get_if<record::PlanBegin>(&r.fact)) {
            counter.emplace(history.source().graph(plan->graph));
        } else if (const auto* begin = std::get_if<record::PassBegin>(&r.fact)) {
            finish(r.step - 1);
            rows.push_back({begin->pass, 0, 0, 0, std::nullopt, no_step});
            begin_ns = r.time_ns;
            open = true;
            count();
        } else if (std::holds_alternative<record::PassEnd>(r.fact) && open) {
            rows.back().time_ns = r.time_ns - begin_ns;
            finish(r.step);
        } else if (const auto* assign = std::get_if<record::Assign>(&r.fact); assign != nullptr && counter) {
            counter->add(*assign);
            if (open) {
                ++rows.back().changed;
                count();
            }
        } else {
            finish(r.step - 1);
        }
    });
    return rows;
}

namespace {

Step end_of_pass_in(History& history, const PlanSpan& span, Pass pass) {
    Step last = no_step;
    bool open = false;
    for_each_record(history, span, pass_bounds, [&](const Record& r) {
        const bool ends = std::holds_alternative<record::PassEnd>(r.fact);
        last = open ? ends ? r.step : r.step - 1 : last;
        const auto* begin = std::get_if<record::PassBegin>(&r.fact);
        open = begin != nullptr && begin->pass == pass;
    });
    return open ? span.end - 1 : last; // it is not over
}

} // namespace

Step end_of_pass(History& history, EvaluationId evaluation, Pass pass) {
    const EvaluationSpan own = history.evaluation(evaluation);
    PlanSpan span = last_plan(history, evaluation);
    if (span.first == no_step) {
        span.first = own.first; // it runs another's plan
    }
    const Step last = end_of_pass_in(history, span, pass);
    const EvaluationId planned = own.begin.planned_in;
    const bool elsewhere = planned >= 0 && planned < history.n_evaluations() && planned != evaluation;
    return last == no_step && elsewhere ? end_of_pass_in(history, last_plan(history, planned), pass) : last;
}

std::vector<AssignmentRow> assignments(History& history, const PlanState& state) {
    std::vector<AssignmentRow> rows;
    const OwnedGraph* graph = history.graph_of(state);
    if (graph == nullptr) {
        return rows;
    }
    const auto add = [&](TensorId id) {
        const TensorInfo& info = history.tensor(state, id);
        const TensorState& t = state.tensors[id];
        AssignmentRow row{id,        history.tensor_name(state, id), info.op,      info.type,         info.ne,
                          t.backend, cause_name(t.cause, t.source),  std::nullopt, told_by_log(info), operator_text(info)};
        if (static_cast<size_t>(id) >= graph->tensors.size()) {
            row.op = Op::NONE; // a copy is made by no operator
            row.operation = op_name(Op::NONE);
        }
        if (t.split >= 0) {
            row.split = t.split;
        }
        rows.push_back(std::move(row));
    };
    for (size_t i = 0; i < graph->tensors.size(); ++i) {
        if (!left_out_by_log(graph->tensors[i])) {
            add(int_of(i));
        }
    }
    for (const record::CopyMade& copy : state.copies) {
        add(copy.copy);
    }
    return rows;
}

std::vector<SplitRow> splits(History& history, const PlanState& state) {
    std::vector<SplitRow> rows;
    const bool imported = is_imported(history, state);
    for (const SplitState& split : state.splits) {
        SplitRow row;
        row.index = split.begin.index;
        row.backend = split.begin.backend;
        row.first_node = split.begin.first_node;
        row.last_node = (split.end_node < 0 ? split.begin.first_node : split.end_node) - 1;
        if (reason_known(split.begin)) {
            row.why = split.begin.why;
        }
        row.nodes_known = !imported || split.end_node > split.begin.first_node;
        row.node = split.begin.node;
        row.node_name = row.node == no_tensor ? "" : history.tensor_name(state, row.node);
        row.by = split.begin.by == no_tensor ? "" : history.tensor_name(state, split.begin.by);
        for (const record::SplitInput& input : split.inputs) {
            row.inputs.push_back({input.tensor, history.tensor_name(state, input.tensor), input.from, known(input.bytes)});
        }
        if (split.start_ns >= 0) {
            row.time_ns = split.end_ns - split.start_ns;
        }
        rows.push_back(std::move(row));
    }
    return rows;
}

std::vector<CopyRow> copies(History& history, const PlanState& state) {
    std::vector<CopyRow> rows;
    std::unordered_map<TensorId, std::vector<const record::Transfer*>> transfers; // by copy
    for (const record::Transfer& transfer : state.transfers) {
        transfers[transfer.copy].push_back(&transfer);
    }
    for (const record::CopyMade& copy : state.copies) {
        CopyRow row;
        row.id = copy.copy;
        row.of = copy.of;
        row.tensor = history.tensor_name(state, copy.of);
        row.to = copy.backend;
        if (copy.stage >= 0) {
            row.stage = copy.stage;
        }
        row.bytes = known(copy.bytes);
        row.from = copy.graph_input ? copy.backend : state.tensors[copy.of].backend;
        if (const int32_t split = state.tensors[copy.copy].split; split >= 0) {
            row.split = split;
        }
        if (const auto moved = transfers.find(copy.copy); moved != transfers.end()) {
            for (const record::Transfer* transfer : moved->second) {
                row.moved_bytes = row.moved_bytes.value_or(0) + transfer->bytes;
                row.time_ns = row.time_ns.value_or(0) + transfer->end_ns - transfer->start_ns;
                row.start_ns = row.start_ns < 0 ? transfer->start_ns : std::min(row.start_ns, transfer->start_ns);
                if (transfer->experts >= 0) {
                    row.experts = transfer->experts;
                    row.experts_total = transfer->experts_total;
                }
            }
        }
        rows.push_back(std::move(row));
    }
    return rows;
}

} // namespace schedscope::tables
