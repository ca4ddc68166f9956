// The passes of a plan: what each did, and where it is over.

#include "traces/history/accounts/passes.h"

#include "runtime/numbers.h"
#include "traces/history/words/words.h"

namespace schedscope::accounts {

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
            const uint8_t now = or_none(f.after) == no_backend ? 0 : 1;
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
    std::optional<int64_t> begin_ns;
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
    ChangedTensors changed;
    const auto change = [&](TensorId id, BackendId before) {
        changed.add(id, before);
        rows.back().changed = n_of(changed.ids());
    };
    constexpr FactSet kinds = pass_bounds | fact_set<record::PlanBegin, record::Assign, record::CopyMade>();
    for_each_record(history, last_plan(history, planned), kinds, [&](const Record& r) {
        if (const auto* plan = std::get_if<record::PlanBegin>(&r.fact)) {
            counter.emplace(history.source().graph(plan->graph));
        } else if (const auto* begin = std::get_if<record::PassBegin>(&r.fact)) {
            finish(r.step - 1);
            rows.push_back({begin->pass, 0, 0, 0, 0, std::nullopt, no_step});
            begin_ns = r.time_ns;
            open = true;
            changed.clear();
            count();
        } else if (std::holds_alternative<record::PassEnd>(r.fact) && open) {
            if (r.time_ns && begin_ns && *r.time_ns > *begin_ns) { // made again from a recording, all is at one moment
                rows.back().time_ns = *r.time_ns - *begin_ns;
            }
            finish(r.step);
        } else if (const auto* assign = std::get_if<record::Assign>(&r.fact); assign != nullptr && counter) {
            counter->add(*assign);
            if (open) {
                change(assign->tensor, or_none(assign->before));
                count();
            }
        } else if (const auto* copy = std::get_if<record::CopyMade>(&r.fact)) {
            if (open) {
                change(copy->copy, no_backend);
                ++rows.back().copies;
            }
        } else {
            finish(is_moment(History::Unit::sweep, r) ? r.step : r.step - 1);
        }
    });
    return rows;
}

namespace {

Step end_of_pass_in(History& history, const PlanSpan& span, Pass pass) {
    Step last = no_step;
    bool open = false;
    for_each_record(history, span, pass_bounds, [&](const Record& r) {
        last = open ? is_moment(History::Unit::sweep, r) ? r.step : r.step - 1 : last;
        const auto* begin = std::get_if<record::PassBegin>(&r.fact);
        open = begin != nullptr && begin->pass == pass;
    });
    return open ? span.end - 1 : last; // it is not over
}

/// None: no pass begins at the step.
Pass pass_beginning_at(History& history, Step step) {
    const Record r = step == no_step ? Record{} : history.record(step);
    const auto* begin = std::get_if<record::PassBegin>(&r.fact);
    return begin == nullptr ? Pass::none : begin->pass;
}

} // namespace

void ChangedTensors::add(TensorId id, BackendId before) {
    if (id < 0 || contains(id)) {
        return;
    }
    if (!is_index(id, before_)) {
        before_.resize(static_cast<size_t>(id) + 1);
    }
    before_[id] = before;
    ids_.push_back(id);
}

void ChangedTensors::clear() noexcept {
    ids_.clear();
    before_.clear();
}

PassWork work_of_pass(History& history, Step end, History::Unit unit) {
    PassWork work;
    if (!is_moment(History::Unit::sweep, history.record(end))) {
        return work;
    }
    const RecordSource& source = history.source();
    Step first = source.previous_of(end, pass_bounds);
    work.pass = pass_beginning_at(history, first);
    if (work.pass == Pass::none) { // what failed was in no pass
        return work;
    }
    work.whole = unit == History::Unit::pass && work.pass == Pass::rest_up;
    for (Pass pass = work.pass; work.whole && pass > Pass::gpu_down && pass <= Pass::rest_up;) {
        first = source.previous_of(first, fact_bit<record::PassBegin>());
        pass = pass_beginning_at(history, first);
    }
    work.first = first;
    source.for_each_of(fact_set<record::Assign, record::CopyMade>(), first, end, [&](const Record& r) {
        if (const auto* assign = std::get_if<record::Assign>(&r.fact)) {
            work.changed.add(assign->tensor, or_none(assign->before));
        } else {
            work.changed.add(std::get<record::CopyMade>(r.fact).copy, no_backend);
        }
    });
    return work;
}

std::string PassWork::told(const History& history, const PlanState& state) const {
    std::string text;
    const auto add = [&](int64_t n, std::string_view noun, std::string_view done) {
        if (n > 0) {
            text += (text.empty() ? "" : ", ") + words::counted(n, noun) + std::string(done);
        }
    };
    int64_t assigned = 0, moved = 0, kept = 0;
    for (const TensorId id : changed.ids()) {
        const std::optional<BackendId> before = changed.before(id);
        const BackendId now = is_index(id, state.tensors) ? state.tensors[id].backend : no_backend;
        if (!is_index(id, state.tensors) || now == before) {
            ++kept;
        } else {
            ++(before == no_backend ? assigned : moved);
        }
    }
    const int64_t n_copies = pass == Pass::split ? state.copies.size() : 0;
    switch (pass) {
    case Pass::split: add(state.splits.size(), "split", ""); break;
    case Pass::optimise:
        add(state.fusions.size(), "group", " fused");
        add(state.reorders.size(), "node", " moved");
        break;
    case Pass::allocate: add(state.placements.size(), "tensor", " placed"); break;
    case Pass::execute:
        add(state.executed.size() + history.untimed_kernels(state).size(), "kernel", " run");
        add(state.transfers.size(), "transfer", "");
        break;
    default: break;
    }
    add(n_copies, "copy", " made");
    add(assigned - n_copies, "tensor", " assigned");
    add(moved, "tensor", " moved to another backend");
    add(kept, "tensor", " kept by another rule");
    return text.empty() ? "nothing changed" : text;
}

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

} // namespace schedscope::accounts
