#include "traces/history/fold.h"

#include "runtime/numbers.h"
#include "traces/format/fields.h"

#include <algorithm>

namespace schedscope {

namespace {

void clear_run(PlanState& s) {
    s.executed.clear();
    s.transfers.clear();
    s.waits.clear();
    s.values.clear();
    s.differences.clear();
    for (SplitState& split : s.splits) {
        split.forget_run();
    }
}

void clear_plan(PlanState& s) {
    s.graph = -1;
    s.planned = false;
    s.error.clear();
    s.tensors.clear();
    s.order.clear();
    s.splits.clear();
    s.copies.clear();
    s.rewires.clear();
    s.graph_inputs.clear();
    s.fusions.clear();
    s.not_fused.clear();
    s.reorders.clear();
    s.placements.clear();
    s.reallocations.clear();
    s.backends.clear();
    s.kept.clear();
    s.verdicts.clear();
    clear_run(s);
}

/// The list that a record is put behind, which is all that it does to a state.
auto& list_of(PlanState& s, const record::Rewired&) { return s.rewires; }
auto& list_of(PlanState& s, const record::GraphInput&) { return s.graph_inputs; }
auto& list_of(PlanState& s, const record::Fusion&) { return s.fusions; }
auto& list_of(PlanState& s, const record::NotFused&) { return s.not_fused; }
auto& list_of(PlanState& s, const record::Reallocation&) { return s.reallocations; }
auto& list_of(PlanState& s, const record::Placement&) { return s.placements; }
auto& list_of(PlanState& s, const record::PlanBackend&) { return s.backends; }
auto& list_of(PlanState& s, const record::Kept&) { return s.kept; }
auto& list_of(PlanState& s, const record::Verdict&) { return s.verdicts; }
auto& list_of(PlanState& s, const record::Execute&) { return s.executed; }
auto& list_of(PlanState& s, const record::Transfer&) { return s.transfers; }
auto& list_of(PlanState& s, const record::Wait&) { return s.waits; }
auto& list_of(PlanState& s, const record::Sample&) { return s.samples; }
auto& list_of(PlanState& s, const record::NextToken&) { return s.tokens; }
auto& list_of(PlanState& s, const record::Value&) { return s.values; }
auto& list_of(PlanState& s, const record::Difference&) { return s.differences; }

template <typename T>
concept Listed = requires(PlanState& s, const T& f) {
    list_of(s, f);
};

/// It has a function of its own for the kind.
template <typename Folder, typename T>
concept Folds = requires(Folder& folder, const T& f) {
    folder.apply(f);
};

class RecordFold {
public:
    RecordFold(PlanState& state, const Record& record, const RecordSource& source) : s(state), r(record), source(source) {}

    template <typename T> void operator()(const T& f) {
        if constexpr (std::is_same_v<T, record::SplitRun> || std::is_same_v<T, record::Transfer>) {
            // Another program does not say that the pass begins in which it runs them.
            s.pass = s.planned && s.pass != Pass::none ? Pass::execute : s.pass;
        }
        if constexpr (Listed<T>) {
            auto& list = list_of(s, f);
            if constexpr (std::is_same_v<decltype(list), std::vector<T>&>) {
                list.push_back(f);
            } else {
                list.push_back({r.step, f});
            }
        } else if constexpr (Folds<RecordFold, T>) {
            apply(f);
        }
    }
    void apply(const record::EvaluationBegin& f) {
        s.pass = Pass::none;
        s.planned_in = f.planned_in;
    }
    void apply(const record::EvaluationEnd& f) {
        s.pass = Pass::none;
        note_error(f.error);
    }
    void apply(const record::PlanBegin& f) {
        clear_plan(s);
        s.planned_in = s.evaluation;
        s.graph = f.graph;
        const OwnedGraph& graph = source.graph(f.graph);
        s.tensors.assign(graph.tensors.size(), {});
        s.order = graph.nodes;
    }
    void apply(const record::PlanEnd& f) {
        s.pass = f.error == 0 ? Pass::none : s.pass; // where it failed
        note_error(f.error);
        s.planned = s.planned || f.error == 0;
        if (s.graph >= 0) {
            const size_t n = source.graph(s.graph).tensors.size() + std::max(f.n_copies, 0);
            s.tensors.resize(std::max(n, s.tensors.size()));
        }
    }
    void apply(const record::PassBegin& f) { s.pass = f.pass; }
    void apply(const record::Assign& f) {
        if (TensorState* t = tensor(f.tensor)) {
            *t = {or_none(f.after), f.cause, f.source, f.pass.value_or(Pass::none), or_none(f.by), t->split, r.step};
        }
    }
    void apply(const record::SplitBegin& f) {
        s.splits.emplace_back().begin = f;
        if (TensorState* t = tensor(or_none(f.node))) {
            t->split = f.index;
        }
    }
    void apply(const record::SplitEnd& f) {
        SplitState* split = split_at(f.index);
        if (split == nullptr) {
            return;
        }
        split->end_node = f.end_node.value_or(split->first_node());
        split->n_inputs_told = f.n_inputs;
        const auto n = n_of(s.order);
        for (int32_t i = split->first_node(); i < std::min(split->end_node, n); ++i) {
            if (TensorState* t = tensor(s.order[i])) {
                t->split = f.index;
            }
        }
    }
    void apply(const record::SplitInput& f) {
        if (SplitState* split = split_at(f.split)) {
            split->inputs.push_back(f);
        }
    }
    void apply(const record::CopyMade& f) {
        s.copies.push_back(f);
        const size_t id = f.copy;
        if (s.tensors.size() <= id) {
            s.tensors.resize(id + 1);
        }
        const int32_t split = f.graph_input || s.splits.empty() ? -1 : s.splits.back().begin.index;
        s.tensors[id] = {f.backend, Cause::copy, -1, Pass::split, f.of, split, r.step};
    }
    void apply(const record::Reorder& f) {
        s.reorders.push_back(f);
        if (is_index(f.to, s.order)) {
            s.order[f.to] = f.node;
        }
    }
    void apply(const record::SplitRun& f) {
        if (SplitState* split = split_at(f.split)) {
            split->start_ns = f.start_ns;
            split->end_ns = f.end_ns;
            split->ran = r.step;
            split->kernels = f.kernels;
        }
    }

private:
    TensorState* tensor(TensorId id) { return is_index(id, s.tensors) ? &s.tensors[id] : nullptr; }
    SplitState* split_at(int32_t index) { return is_index(index, s.splits) ? &s.splits[index] : nullptr; }
    void note_error(StringId error) {
        if (error != 0 && s.error.empty()) {
            s.error = source.text(error);
        }
    }

    PlanState& s;
    const Record& r;
    const RecordSource& source;
};

template <typename T> size_t bytes_of(const std::vector<T>& v) noexcept { return v.size() * sizeof(T); }

} // namespace

constinit const FactSet folded_facts = [] {
    FactSet folded = 0;
    for_each_kind([&]<typename T>(size_t) { folded |= Listed<T> || Folds<RecordFold, T> ? fact_bit<T>() : 0; });
    return folded;
}();

void begin_state(PlanState& state, EvaluationId evaluation) {
    clear_plan(state);
    state.samples.clear();
    state.tokens.clear();
    state.step = no_step;
    state.pass = Pass::none;
    state.evaluation = state.planned_in = evaluation;
}

void fold(PlanState& state, const Record& record, const RecordSource& source) {
    std::visit(RecordFold(state, record, source), record.fact);
    state.step = record.step;
}

bool unfold(PlanState& s, const Record& record) noexcept {
    const auto shorten = [](auto& list) {
        if (list.empty()) {
            return false;
        }
        list.pop_back();
        return true;
    };
    const auto split_at = [&](int32_t index) { return is_index(index, s.splits) ? &s.splits[index] : nullptr; };
    return std::visit(
        [&]<typename T>(const T& f) {
            if constexpr (Listed<T>) {
                return shorten(list_of(s, f));
            } else if constexpr (std::is_same_v<T, record::SplitInput>) {
                SplitState* const split = split_at(f.split);
                return split == nullptr || shorten(split->inputs);
            } else if constexpr (std::is_same_v<T, record::SplitRun>) {
                if (SplitState* const split = split_at(f.split)) { // runs once in an evaluation
                    split->forget_run();
                }
                return true;
            } else {
                return (fact_bit(Fact(f)) & folded_facts) == 0;
            }
        },
        record.fact);
}

bool adopts_plan(const Record& record) noexcept {
    const auto* begin = std::get_if<record::EvaluationBegin>(&record.fact);
    return begin != nullptr && begin->planned_in != record.evaluation;
}

void adopt_plan(PlanState& state, const PlanState& planned, const Record& begin) {
    const EvaluationId evaluation = state.evaluation;
    state = planned;
    clear_run(state);
    state.samples.clear();
    state.tokens.clear();
    state.evaluation = evaluation;
    state.planned_in = planned.evaluation;
    state.pass = Pass::none;
    state.step = begin.step;
}

size_t state_bytes(const PlanState& s) noexcept {
    size_t n = sizeof s + bytes_of(s.tensors) + bytes_of(s.order) + bytes_of(s.splits) + bytes_of(s.copies) +
               bytes_of(s.rewires) + bytes_of(s.graph_inputs) + bytes_of(s.fusions) + bytes_of(s.not_fused) +
               bytes_of(s.reorders) + bytes_of(s.placements) + bytes_of(s.reallocations) + bytes_of(s.backends) +
               bytes_of(s.kept) + bytes_of(s.verdicts) + bytes_of(s.executed) + bytes_of(s.transfers) + bytes_of(s.waits) +
               bytes_of(s.samples) + bytes_of(s.tokens) + bytes_of(s.values) + bytes_of(s.differences);
    for (const SplitState& split : s.splits) {
        n += bytes_of(split.inputs);
    }
    return n;
}

} // namespace schedscope
