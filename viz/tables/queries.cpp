#include "viz/tables/queries.h"

#include "traces/history/words/words.h"

#include <algorithm>
#include <map>

namespace schedscope::tables {

using query::Field;

std::span<const QueriesTable::Entry> QueriesTable::entries() {
    using T = const QueriesTable&;
    using R = const QueriesRow&;
    const static auto dotted = [](int n) { return n == 0 ? Cell::nothing("·").ordered_by(0) : Cell(n); };
    static const Entry list[] = {
        {{.key = "op", .title = "op", .help = "the operator", .width = 10, .most = 18, .field = Field::op},
         [](T t, R r) { return t.is_unknown(r) ? Cell::unknown() : Cell(t.op(r)); }},
        {{.key = "backend", .title = "backend", .help = "that was asked", .unit = Unit::backend, .field = Field::backend},
         [](T t, R r) { return t.backend(r.backend); }},
        {{.key = "nodes", .title = "nodes", .help = "of this operator", .unit = Unit::number, .width = 5, .from_width = 46},
         [](T t, R r) -> Cell { return t.n_nodes(r); }},
        {{.key = "can", .title = "can", .help = "nodes that the backend says it can run", .unit = Unit::number, .width = 4},
         [](T t, R r) {
             const int can = t.n_nodes(r) - n_of(r.refused->nodes);
             return !t.answered() ? Cell::unknown()
                    : can == 0    ? Cell::nothing("none").in(Tone::warning).ordered_by(0)
                                  : Cell(can).in(r.refused->nodes.empty() ? Tone::plain : Tone::warning);
         }},
        {{.key = "on",
          .title = "on",
          .help = "nodes that stand on it at this step",
          .unit = Unit::number,
          .width = 4,
          .from_width = 40},
         [](T t, R r) { return t.is_unknown(r) ? Cell::unknown() : dotted(r.n_on); }},
        {{.key = "asked",
          .title = "asked",
          .help = "how often the scheduler has asked it",
          .unit = Unit::number,
          .width = 5,
          .from_width = 50,
          .tone = Tone::quiet},
         [](T t, R r) { return t.knows(Topic::passes) ? dotted(r.n_asked) : Cell::unknown(); }},
        {{.key = "why",
          .title = "refused",
          .help = "why it can't run the first of those nodes that it can't; what it said no to otherwise, memory that it can't "
                  "use and work that it would not take over, is among the questions",
          .field = Field::why,
          .tone = Tone::quiet},
         [](T, R r) { return Cell::if_any(r.refused->why); }},
        {{.key = "name", .help = "the operator: what a word alone finds", .field = Field::name},
         [](T t, R r) -> Cell { return t.op(r); }},
    };
    return list;
}

QueriesTable::QueriesTable(History& history) : PlanTable("queries", history) {}

void QueriesTable::update(const PlanState& state) {
    look_at(state);
    when_empty_ = history().graph_of(state) == nullptr ? "nothing is planned at this step"
                                                       : "which operators there are is unknown: this trace has no nodes";
    rows_.clear();
    if (history().graph_of(state) == nullptr) {
        plan_ = &nothing_;
        return;
    }
    plan_ = &plan_of_state();
    find_questions(*plan_);
    rows_ = plan_->rows;
    count(*plan_);
}

const Answer& QueriesTable::answer(BackendId backend, TensorId id) const {
    const CapabilityTable& answers = history().source().answers(plan_->graph);
    return answers.op_answer(backend, id);
}

/// Those that were looked at last are kept.
QueriesTable::Plan& QueriesTable::plan_of_state() {
    const GraphId graph = state().graph;
    const Step begin = history().evaluation(state().planned_in).first;
    const auto known =
        std::find_if(kept_.begin(), kept_.end(), [&](const Plan& p) { return p.graph == graph && p.begin == begin; });
    if (known != kept_.end()) {
        kept_.splice(kept_.begin(), kept_, known);
        return kept_.front();
    }
    constexpr size_t most_kept = 3;
    if (kept_.size() == most_kept) {
        kept_.pop_back();
    }
    kept_.push_front(read_graph());
    kept_.front().begin = kept_.front().asked_until = begin;
    return kept_.front();
}

/// A graph's operators, and what each backend said of their nodes.
QueriesTable::Plan QueriesTable::read_graph() const {
    Plan plan;
    plan.graph = state().graph;
    plan.n_backends = narrow<BackendId>(history().session().backends.size());
    const OwnedGraph& graph = *history().graph_of(state());
    const CapabilityTable& answers = history().source().answers(plan.graph);
    plan.answered = !answers.op_answers.empty();
    std::map<std::string, std::vector<TensorId>> by_op;
    for (const TensorId id : graph.nodes) {
        by_op[operator_text(graph.tensors[id])].push_back(id);
    }
    plan.op_of.assign(graph.tensors.size(), -1);
    for (auto& [op, nodes] : by_op) {
        const auto index = n_of(plan.ops);
        for (const TensorId id : nodes) {
            plan.op_of[id] = index;
        }
        const auto first_row = n_of(plan.rows);
        if (op == unknown_text) {
            plan.rows.push_back(
                {index, no_backend, 0, 0, &plan.refused.emplace_back(QueriesRow::Refused{{}, "these are not known"})});
        }
        for (BackendId b = 0; b < plan.n_backends && op != unknown_text; ++b) {
            QueriesRow::Refused& refused = plan.refused.emplace_back();
            std::copy_if(nodes.begin(), nodes.end(), std::back_inserter(refused.nodes),
                         [&](TensorId id) { return plan.answered && !answers.op_answer(b, id).yes; });
            if (!refused.nodes.empty()) {
                const Answer& answer = answers.op_answer(b, refused.nodes.front());
                refused.why = words::refusal(answer.reason, answer.detail);
            }
            plan.rows.push_back({index, b, 0, 0, &refused});
        }
        plan.ops.push_back({op, std::move(nodes), first_row});
    }
    plan.asked_of.resize(plan.rows.size());
    return plan;
}

/// What was asked while the plan was made, up to the state's step.
void QueriesTable::find_questions(Plan& plan) const {
    const Step end = std::min(history().evaluation(state().planned_in).end, state().step + 1);
    if (plan.asked_until >= end) {
        return;
    }
    history().source().for_each_of(fact_bit<record::BackendQuery>(), plan.asked_until, end, [&](const Record& record) {
        const auto& query = std::get<record::BackendQuery>(record.fact);
        if (const int32_t op = plan.op_at(query.tensor); op >= 0 && query.backend >= 0 && query.backend < plan.n_backends) {
            plan.asked_of[plan.row(op, query.backend)].push_back(n_of(plan.asked));
            plan.asked.push_back({record.step, query});
        }
    });
    plan.asked_until = end;
}

/// What depends on the step.
void QueriesTable::count(const Plan& plan) {
    for (size_t i = 0; i < rows_.size(); ++i) {
        const auto& asked = plan.asked_of[i];
        const auto later = [&](Step step, int32_t at) { return step < plan.asked[at].step; };
        rows_[i].n_asked = int_of(std::upper_bound(asked.begin(), asked.end(), state().step, later) - asked.begin());
    }
    const auto& tensors = state().tensors;
    for (size_t id = 0; id < std::min(plan.op_of.size(), tensors.size()); ++id) {
        if (const BackendId b = tensors[id].backend; plan.op_of[id] >= 0 && b >= 0 && b < plan.n_backends) {
            ++rows_[plan.row(plan.op_of[id], b)].n_on;
        }
    }
}

} // namespace schedscope::tables
