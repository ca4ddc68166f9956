#include "traces/replay/foreign/real_records.h"

#include "runtime/numbers.h"
#include "traces/store/record_source.h"

#include <algorithm>
#include <map>

namespace schedscope {

namespace {

constexpr FactSet split_kinds =
    fact_set<record::SplitBegin, record::SplitEnd, record::SplitInput, record::CopyMade, record::Rewired, record::GraphInput>();
constexpr FactSet memory_kinds = fact_set<record::Reallocation, record::BufferSize, record::Placement, record::Kept>();

/// What the scheduler did, where that is not what was planned.
class RealRecords {
public:
    RealRecords(const ForeignSubject& subject, const Plan& plan, bool planned, std::vector<Fact>& out)
        : s(subject), real(subject.foreign.real), plan(plan), planned(planned), out(out) {}

    /// Instead of pass 5.
    void put_decisions() {
        for (const RealPlan::Assigned& a : real.assigned) {
            const BackendId ours = planned ? s.own.in_session(plan.assignments[a.tensor].backend) : no_backend;
            at_[a.tensor] = a.backend;
            if (ours != a.backend) {
                out.emplace_back(record::Assign{std::nullopt, std::nullopt, -1, ours, a.backend, a.tensor, std::nullopt});
            }
        }
        std::map<TensorId, std::vector<const RealPlan::Source*>> sources;
        for (const RealPlan::Source& source : real.sources) {
            sources[source.node].push_back(&source);
        }
        for (size_t i = 0; i < real.splits.size(); ++i) {
            put_split(int_of(i), real.splits[i], sources);
        }
    }
    int32_t n_copies() const { return int_of(copies_.size()); }

private:
    void put_split(int32_t index, const RealPlan::Part& split,
                   const std::map<TensorId, std::vector<const RealPlan::Source*>>& sources) {
        const std::vector<TensorId>& nodes = s.graph.nodes;
        const TensorId starter = is_index(split.first_node, nodes) ? nodes[split.first_node] : no_tensor;
        out.emplace_back(record::SplitBegin{index, std::nullopt, split.backend, split.first_node, starter, std::nullopt});
        for (const TensorId input : split.inputs) {
            const auto at = at_.find(input);
            out.emplace_back(record::SplitInput{index, input, std::nullopt,
                                                at == at_.end() ? std::nullopt : std::optional(at->second),
                                                s.graph.tensors[input].bytes()});
            copy({input, split.backend, s.foreign.begin.current_stage.value_or(-1)});
        }
        for (int32_t i = split.first_node; i < split.end_node && is_index(i, nodes); ++i) {
            if (const auto of_node = sources.find(nodes[i]); of_node != sources.end()) {
                for (const RealPlan::Source* const source : of_node->second) {
                    out.emplace_back(record::Rewired{source->node, source->slot, source->copy.of, copy(source->copy)});
                }
            }
        }
        out.emplace_back(record::SplitEnd{index, split.end_node, n_of(split.inputs)});
    }

    TensorId copy(const RealCopy& c) {
        const auto [at, is_new] = copies_.try_emplace({c.of, c.backend}, n_of(s.graph.tensors) + n_copies());
        if (is_new) {
            out.emplace_back(record::CopyMade{at->second, c.of, c.backend,
                                              c.stage < 0 ? std::nullopt : std::optional(static_cast<int16_t>(c.stage)), false,
                                              s.graph.tensors[c.of].bytes()});
        }
        return at->second;
    }

    const ForeignSubject& s;
    const RealPlan& real;
    const Plan& plan;
    const bool planned;
    std::vector<Fact>& out;
    std::map<TensorId, BackendId> at_;
    std::map<std::pair<TensorId, BackendId>, TensorId> copies_;
};

/// Planned places, with the real ones where those are known: who lives from when to when is the same.
void put_places(const ForeignSubject& s, const Plan& plan, std::span<const PlacedTensor> places, std::vector<Fact>& out) {
    std::map<TensorId, const RealPlan::Place*> real;
    for (const RealPlan::Place& p : s.foreign.real.places) {
        real.emplace(planned_id(plan, s.own, p.tensor, p.copy), &p);
    }
    for (const PlacedTensor& t : places) {
        if (const auto found = real.find(t.tensor); found != real.end()) {
            const RealPlan::Place& p = *found->second;
            const bool same = p.buffer_type == t.buffer_type && p.chunk == t.chunk && p.offset == t.offset;
            out.emplace_back(record::Placement{t.tensor, same ? t.in_place_of : no_tensor, p.buffer_type,
                                               static_cast<int16_t>(p.chunk), t.first_use, t.last_use, p.offset,
                                               p.size < 0 ? t.size : p.size});
        }
    }
}

} // namespace

void record_order(const Plan& plan, const GraphView& graph, std::span<const TensorId> order, Recorder& recorder) {
    if (std::equal(order.begin(), order.end(), graph.nodes.begin(), graph.nodes.end())) {
        return;
    }
    std::map<TensorId, int32_t> before;
    for (size_t i = 0; i < graph.nodes.size(); ++i) {
        before[graph.nodes[i]] = int_of(i);
    }
    recorder.add(record::PassBegin{Pass::optimise});
    for (size_t split = 0; split < plan.splits.size(); ++split) {
        for (int32_t i = plan.splits[split].first_node; i < plan.splits[split].end_node; ++i) {
            if (order[i] != graph.nodes[i]) {
                recorder.add_in_burst(record::Reorder{int_of(split), order[i], before[order[i]], i});
            }
        }
    }
    recorder.add(record::PassEnd{Pass::optimise});
}

std::vector<Fact> records_of(const ForeignSubject& subject, const std::string& rules, const Plan& plan, bool planned,
                             const RealComparison& c, std::span<const Fact> facts, std::span<const PlacedTensor> places) {
    std::vector<Fact> out;
    out.reserve(facts.size() + 1);
    const bool same = c.same_decisions(), same_memory = same && c.placements == c.placements_identical;
    bool put_real = false;
    int32_t n_copies = 0;
    const auto put_decisions = [&] {
        if (!same && !std::exchange(put_real, true)) {
            RealRecords real(subject, plan, planned, out);
            real.put_decisions();
            n_copies = real.n_copies();
        }
    };
    for (const Fact& fact : facts) {
        const FactSet kind = fact_bit(fact);
        if (kind == fact_bit<record::PlanBegin>()) {
            continue;
        }
        const auto* const pass_end = std::get_if<record::PassEnd>(&fact);
        if (pass_end != nullptr && pass_end->pass == Pass::split) {
            put_decisions();
        }
        if (pass_end != nullptr && pass_end->pass == Pass::allocate && same && !same_memory) {
            put_places(subject, plan, places, out);
        }
        const auto* const assign = std::get_if<record::Assign>(&fact);
        const bool of_splits = (kind & split_kinds) != 0 || (assign != nullptr && assign->pass == Pass::split);
        if ((of_splits && !same) || ((kind & memory_kinds) != 0 && !same_memory)) {
            continue;
        }
        if (const auto* const end = std::get_if<record::PlanEnd>(&fact); end != nullptr && !same) {
            put_decisions();
            out.emplace_back(record::PlanEnd{n_of(subject.foreign.real.splits), n_copies, 0});
            continue;
        }
        out.push_back(fact);
        subject.own.to_session(out.back());
    }
    record::Verdict verdict;
    verdict.rules = subject.intern(rules);
    verdict.decisions = int_of(c.decisions);
    verdict.identical = int_of(c.identical);
    const bool watched = !subject.foreign.real.places.empty();
    verdict.placements = watched ? std::optional(int_of(c.placements)) : std::nullopt;
    verdict.placements_identical = watched ? std::optional(int_of(c.placements_identical)) : std::nullopt;
    verdict.causes = int_of(c.causes);
    verdict.causes_identical = int_of(c.causes_identical);
    verdict.first = c.first.empty() ? 0 : subject.intern(c.first);
    verdict.tensor = c.tensor;
    out.emplace_back(verdict);
    return out;
}

} // namespace schedscope
