#include "viz/query/describer.h"

#include "runtime/numbers.h"
#include "traces/format/fields.h"
#include "traces/history/accounts/copies.h"
#include "traces/history/words/difference_words.h"
#include "traces/history/words/unknown.h"

#include <algorithm>
#include <utility>

namespace schedscope::query {
namespace {

template <class... F> struct Overloaded : F... { using F::operator()...; };
template <class... F> Overloaded(F...) -> Overloaded<F...>; // clang 16 does not find it itself

} // namespace

std::string_view Describer::backend(BackendId id) {
    if (id == no_backend) {
        return {};
    }
    while (!is_index(id, backends_)) {
        backends_.push_back(history_.backend_name(narrow<BackendId>(backends_.size())));
    }
    return backends_[id];
}

Describer::Planned& Describer::planned(EvaluationId evaluation) {
    auto where = planned_in_.find(evaluation);
    if (where == planned_in_.end() && (evaluation < 0 || evaluation >= history_.n_evaluations())) {
        return outside_;
    }
    if (where == planned_in_.end()) {
        where = planned_in_.emplace(evaluation, history_.evaluation(evaluation).begin.planned_in).first;
    }
    Planned& plan = plans_[where->second];
    if (plan.graph < 0) {
        const EvaluationSpan span = history_.evaluation(where->second);
        const Step at = history_.source().next_of(span.first - 1, fact_bit<record::PlanBegin>());
        if (at != no_step && at < span.end) {
            plan.graph = std::get<record::PlanBegin>(history_.record(at).fact).graph;
        }
    }
    return plan;
}

const OwnedGraph* Describer::graph_of(EvaluationId evaluation) {
    const Planned& plan = planned(evaluation);
    return plan.graph < 0 ? nullptr : &history_.source().graph(plan.graph);
}

const std::deque<std::string>& Describer::copies(EvaluationId evaluation, Planned& plan) {
    if (plan.copies_known || plan.graph < 0 || &plan == &outside_) {
        return plan.copies;
    }
    const EvaluationId where = planned_in_.at(evaluation);
    const PlanState& state = history_.plan_run_by(where);
    const auto n_tensors = history_.source().graph(plan.graph).tensors.size();
    if (const size_t n_copies = state.tensors.size() > n_tensors ? state.tensors.size() - n_tensors : 0;
        n_copies > plan.copies.size()) {
        plan.copies.resize(n_copies);
        plan.of.resize(n_copies, no_tensor);
    }
    for (const record::CopyMade& copy : state.copies) {
        const auto index = copy.copy - n_tensors;
        if (copy.copy >= int_of(n_tensors) && index < plan.copies.size() && plan.of[index] == no_tensor) {
            plan.copies[index] = history_.tensor_name(state, copy.copy);
            plan.of[index] = copy.of;
        }
    }
    plan.copies_known = state.planned; // a live plan may still get more
    return plan.copies;
}

std::string_view Describer::name(EvaluationId evaluation, TensorId id) {
    Planned& plan = planned(evaluation);
    if (plan.graph < 0 || id < 0) {
        return {};
    }
    const OwnedGraph& graph = history_.source().graph(plan.graph);
    const size_t at = id;
    if (at < graph.tensors.size()) {
        return graph.tensors[at].name;
    }
    const auto& names = copies(evaluation, plan);
    const size_t index = at - graph.tensors.size();
    return index < names.size() ? std::string_view(names[index]) : std::string_view();
}

const TensorInfo* Describer::info(EvaluationId evaluation, TensorId id) {
    Planned& plan = planned(evaluation);
    if (plan.graph < 0 || id < 0) {
        return nullptr;
    }
    const OwnedGraph& graph = history_.source().graph(plan.graph);
    if (!is_index(id, graph.tensors)) {
        copies(evaluation, plan);
        const size_t index = id - graph.tensors.size();
        id = index < plan.of.size() ? plan.of[index] : no_tensor;
    }
    return !is_index(id, graph.tensors) ? nullptr : &graph.tensors[id];
}

void Describer::tensor(const PlanState& state, TensorId id, Facts& facts) {
    facts.clear();
    const OwnedGraph* graph = history_.graph_of(state);
    if (!graph || !is_index(id, state.tensors)) {
        return;
    }
    const auto is_made = [&](const record::CopyMade& made) { return made.copy == id; };
    if (!is_index(id, graph->tensors) && std::none_of(state.copies.begin(), state.copies.end(), is_made)) {
        return;
    }
    const bool copy = !is_index(id, graph->tensors);
    const TensorInfo& info = copy ? history_.tensor(state, id) : graph->tensors[id];
    // A list may have thousands of rows: nothing is looked up that is not asked for.
    if (facts.wants(Field::name)) {
        if (copy) {
            facts.keep(Field::name, history_.tensor_name(state, id));
        } else {
            facts.set(Field::name, is_left_out(info) ? std::string_view(left_out_name) : std::string_view(info.name));
        }
    }
    if (facts.wants(Field::op)) {
        facts.set(Field::op, copy ? std::string_view("COPY") : operator_name(info));
    }
    if (facts.wants(Field::type) && info.type) {
        facts.set(Field::type, type_name(info));
    }
    const TensorState& now = state.tensors[id];
    if (facts.wants(Field::backend)) {
        facts.set(Field::backend, now.backend != no_backend       ? backend(now.backend)
                                  : history_.knows(Topic::passes) ? "-"
                                                                  : unknown_text);
    }
    if (facts.wants(Field::cause)) {
        facts.keep(Field::cause, now.cause ? cause_name(*now.cause, now.source) : "");
    }
    facts.set(Field::pass, now.pass == Pass::none ? std::string_view() : pass_name(now.pass));
    if (facts.wants(Field::by) && now.by != no_tensor) {
        facts.keep(Field::by, history_.tensor_name(state, now.by));
    }
    if (facts.wants(Field::kind)) {
        facts.set(Field::kind, copy ? "copy" : info.is_leaf() ? "leaf" : "node");
    }
    if (facts.wants(Field::bytes)) {
        facts.set_known(Field::bytes, info.bytes());
    }
    facts.set_known(Field::split, now.split);
    facts.set(Field::evaluation, state.evaluation);
    about(state.evaluation, state.step, id, facts);
    if (facts.wants(Field::time) || facts.wants(Field::kernel)) {
        if (const auto [run, timed] = run_of(state, id); run != nullptr) {
            facts.set_known(Field::time, timed ? std::optional(run->end_ns - run->start_ns) : std::nullopt);
            facts.set(Field::kernel, history_.source().text(run->kernel));
        }
    }
}

void Describer::about(EvaluationId evaluation, Step step, TensorId id, Facts& facts) {
    if (id != no_tensor) {
        facts.set(Field::id, id);
        if (facts.wants(Field::node)) {
            facts.set_known(Field::node, position(evaluation, step, id));
        }
    }
}

int32_t Describer::position(EvaluationId evaluation, Step step, TensorId id) {
    Planned& plan = planned(evaluation);
    if (plan.graph < 0) {
        return -1;
    }
    const OwnedGraph& graph = history_.source().graph(plan.graph);
    if (plan.positions.empty()) {
        plan.positions.assign(graph.tensors.size(), -1);
        for (size_t i = 0; i < graph.nodes.size(); ++i) {
            plan.positions[graph.nodes[i]] = int_of(i);
        }
    }
    const EvaluationSpan span = history_.evaluation(planned_in_.at(evaluation));
    if (plan.moves_end < span.end) { // a running plan gets more
        history_.source().for_each_of(fact_bit<record::Reorder>(), std::max(plan.moves_end, span.first), span.end,
                                      [&](const Record& moved) {
                                          const auto& to = std::get<record::Reorder>(moved.fact);
                                          plan.moves[to.node] = {moved.step, to.to};
                                      });
        plan.moves_end = span.end;
    }
    const auto moved = plan.moves.find(id);
    return moved != plan.moves.end() && moved->second.step <= step ? moved->second.to
           : is_index(id, plan.positions)                          ? plan.positions[id]
                                                                   : -1;
}

std::pair<const record::Execute*, bool> Describer::run_of(const PlanState& state, TensorId id) {
    if (const std::pair at{state.evaluation, state.step}; at != ran_at_) {
        ran_at_ = at;
        ran_.clear();
        untimed_ = history_.untimed_kernels(state);
        for (const std::vector<record::Execute>* list : {&std::as_const(untimed_), &state.executed}) {
            for (size_t i = 0; i < list->size(); ++i) {
                ran_[(*list)[i].last] = {i, list == &state.executed};
            }
        }
    }
    const auto found = ran_.find(id);
    if (found == ran_.end()) {
        return {nullptr, false};
    }
    const auto [i, timed] = found->second;
    const std::vector<record::Execute>& list = timed ? state.executed : untimed_;
    return {i < list.size() ? &list[i] : nullptr, timed};
}

void Describer::record(const Record& rec, Facts& facts) {
    facts.clear();
    const EvaluationId e = rec.evaluation;
    const TensorId subject_id = subject(rec.fact);
    facts.set(Field::kind, fact_name(rec.fact));
    facts.set(Field::step, rec.step);
    facts.set(Field::evaluation, e);
    if (subject_id != no_tensor) {
        about(e, rec.step, subject_id, facts);
        if (facts.wants(Field::name)) {
            facts.set(Field::name, name(e, subject_id));
        }
        if (facts.wants(Field::op) || facts.wants(Field::type)) {
            if (const TensorInfo* t = info(e, subject_id)) {
                facts.set(Field::op, operator_name(*t));
                if (t->type) {
                    facts.set(Field::type, type_name(*t));
                }
            }
        }
    }
    const auto by = [&](TensorId id) {
        if (facts.wants(Field::by)) {
            facts.set(Field::by, name(e, id));
        }
    };
    const auto text = [&](Field field, StringId id) { facts.set(field, history_.source().text(id)); };
    const auto span = [&](const auto& fact) { facts.set_known(Field::time, fact.end_ns - fact.start_ns); };
    const auto split = [&](int32_t index) { facts.set_known(Field::split, index); };
    std::visit(Overloaded{
                   [&](const record::EvaluationBegin& f) {
                       text(Field::why, f.failed_check);
                       facts.set(Field::type, f.kind ? graph_kind_name(*f.kind) : std::string_view());
                   },
                   [&](const record::EvaluationEnd& f) { text(Field::why, f.error); },
                   [&](const record::PlanEnd& f) { text(Field::why, f.error); },
                   [&](const record::PassBegin& f) { facts.set(Field::pass, pass_name(f.pass)); },
                   [&](const record::PassEnd& f) { facts.set(Field::pass, pass_name(f.pass)); },
                   [&](const record::BackendQuery& f) {
                       facts.set(Field::pass, pass_name(f.pass));
                       facts.set(Field::backend, backend(f.backend));
                       facts.set(Field::why, f.yes ? std::string_view("yes") : refusal_name(f.reason));
                   },
                   [&](const record::Assign& f) {
                       const auto place = [&](const std::optional<BackendId>& id) {
                           return !id ? unknown_text : *id == no_backend ? "-" : backend(*id);
                       };
                       facts.set(Field::pass, f.pass ? pass_name(*f.pass) : std::string_view());
                       facts.set(Field::backend, place(f.after));
                       facts.set(Field::from, place(f.before));
                       if (facts.wants(Field::cause)) {
                           facts.keep(Field::cause, f.cause ? cause_name(*f.cause, f.source) : "");
                       }
                       by(or_none(f.by));
                   },
                   [&](const record::SplitBegin& f) {
                       facts.set(Field::pass, pass_name(Pass::split));
                       facts.set(Field::backend, backend(or_none(f.backend)));
                       facts.set(Field::why, f.why ? split_reason_name(*f.why) : std::string_view());
                       by(or_none(f.by));
                       split(f.index);
                   },
                   [&](const record::SplitEnd& f) { split(f.index); },
                   [&](const record::SplitInput& f) {
                       facts.set(Field::pass, pass_name(Pass::split));
                       facts.set(Field::from, backend(or_none(f.from)));
                       facts.set_known(Field::bytes, f.bytes);
                       by(or_none(f.node));
                       split(f.split);
                   },
                   [&](const record::CopyMade& f) {
                       facts.set(Field::pass, pass_name(Pass::split));
                       facts.set(Field::backend, backend(f.backend));
                       facts.set_known(Field::bytes, f.bytes);
                       by(f.of);
                   },
                   [&](const record::Rewired& f) {
                       facts.set(Field::pass, pass_name(Pass::split));
                       by(f.copy);
                   },
                   [&](const record::Reorder& f) { split(f.split); },
                   [&](const record::Fusion& f) {
                       facts.set(Field::backend, backend(f.backend));
                       text(Field::kernel, f.kernel);
                       split(f.split);
                   },
                   [&](const record::NotFused& f) {
                       facts.set(Field::backend, backend(f.backend));
                       text(Field::why, f.why);
                       by(f.second);
                       split(f.split);
                   },
                   [&](const record::Reallocation& f) { text(Field::why, f.reason); },
                   [&](const record::BufferSize& f) { facts.set_known(Field::bytes, f.size); },
                   [&](const record::Placement& f) {
                       facts.set_known(Field::bytes, f.size);
                       by(f.in_place_of);
                   },
                   [&](const record::Execute& f) {
                       facts.set(Field::pass, pass_name(Pass::execute));
                       facts.set(Field::backend, backend(f.backend));
                       text(Field::kernel, f.kernel);
                       facts.set_known(Field::bytes, f.bytes);
                       span(f);
                       split(f.split);
                   },
                   [&](const record::SplitRun& f) {
                       facts.set(Field::pass, pass_name(Pass::execute));
                       facts.set(Field::backend, backend(f.backend));
                       if (f.start_ns && f.end_ns) {
                           facts.set_known(Field::time, *f.end_ns - *f.start_ns);
                       }
                       split(f.split);
                   },
                   [&](const record::Transfer& f) {
                       facts.set(Field::pass, pass_name(Pass::execute));
                       facts.set(Field::backend, backend(f.to));
                       facts.set(Field::from, backend(f.from));
                       facts.set_known(Field::bytes, f.bytes);
                       if (const std::optional<int64_t> took = accounts::moving_time(f)) {
                           facts.set_known(Field::time, *took);
                       }
                       split(f.split);
                   },
                   [&](const record::Wait& f) {
                       facts.set(Field::backend, f.backend == no_backend ? "-" : backend(f.backend));
                       span(f);
                       split(f.split);
                   },
                   [&](const record::Sample& f) {
                       facts.set(Field::backend, f.backend == no_backend ? "-" : backend(f.backend));
                       text(Field::kernel, f.sampler);
                       text(Field::why, f.why_not_in_graph);
                   },
                   [&](const record::NextToken& f) {
                       text(Field::name, f.text.value_or(0));
                       facts.set_known(Field::bytes, f.host_bytes);
                   },
                   [&](const record::Difference& f) {
                       facts.set(Field::pass, pass_name(Pass::execute));
                       facts.set(Field::backend, backend(f.backend));
                       facts.set(Field::why, words::verdict(f));
                       facts.set(Field::error, f.nmse);
                   },
                   [&](const auto&) {},
               },
               rec.fact);
}

} // namespace schedscope::query
