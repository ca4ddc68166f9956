#include "traces/import/stream/stream_repeats.h"

#include "traces/format/fields.h"
#include "traces/format/row_hash.h"

#include <algorithm>
#include <functional>
#include <tuple>

namespace schedscope::import {

namespace {

constexpr size_t most_kept_tensors = 1 << 18, most_kept_facts = 1 << 20; ///< about 80 MB each

bool same_words(const ForeignWords* a, const ForeignWords* b) { return a == b || (a != nullptr && b != nullptr && *a == *b); }

bool same_tensor(const TensorInfo& a, const TensorInfo& b) {
    return a.op == b.op && a.type == b.type && a.flags == b.flags && a.usage == b.usage && a.buffer_type == b.buffer_type &&
           a.user_backend == b.user_backend && a.role == b.role && a.layer == b.layer && a.view_source == b.view_source &&
           a.src == b.src && a.ne == b.ne && a.nb == b.nb && a.view_offset == b.view_offset && a.params == b.params &&
           a.name == b.name && same_words(a.foreign, b.foreign);
}

bool same_answer(const Answer& a, const Answer& b) { return a.yes == b.yes && a.reason == b.reason && a.detail == b.detail; }

/// Of what most often differs; equal ones have the same.
uint64_t hash_of(const GraphView& graph) {
    uint64_t hash = graph.nodes.size();
    for (const TensorInfo& t : graph.tensors) {
        hash = mixed(hash ^ std::hash<std::string_view>()(t.name)) + static_cast<uint64_t>(t.ne.value_or(Shape{})[1]) +
               (t.view_offset << 1U);
    }
    return hash;
}

bool same_fact(const Fact& a, const Fact& b) {
    return a.index() == b.index() &&
           std::visit(
               [&]<typename Record>(const Record& x) {
                   const Record& y = std::get<Record>(b);
                   return std::apply([&](const auto&... f) { return ((x.*f.member == y.*f.member) && ...); },
                                     Kind<Record>::fields);
               },
               a);
}

bool same_plan(const StreamRepeats::PlanRecords& a, const StreamRepeats::PlanRecords& b) {
    const auto same = [](const auto& x, const auto& y) { return same_fact(Fact(x), Fact(y)); };
    return same(a.begin, b.begin) &&
           std::equal(a.backends.begin(), a.backends.end(), b.backends.begin(), b.backends.end(), same) &&
           std::equal(a.facts.begin(), a.facts.end(), b.facts.begin(), b.facts.end(), same_fact);
}

} // namespace

std::optional<GraphId> StreamRepeats::graph(const GraphView& graph, const CapabilityTable& answers) const {
    const uint64_t hash = hash_of(graph);
    const auto is_same = [&](const KnownGraph& known) {
        const GraphView other = known.graph.view();
        return known.hash == hash && std::ranges::equal(other.leafs, graph.leafs) &&
               std::ranges::equal(other.nodes, graph.nodes) && std::ranges::equal(other.tensors, graph.tensors, same_tensor) &&
               known.answers.n_tensors == answers.n_tensors && known.answers.offload_answers == answers.offload_answers &&
               std::ranges::equal(known.answers.op_answers, answers.op_answers, same_answer);
    };
    const auto found = std::find_if(graphs_.rbegin(), graphs_.rend(), is_same);
    return found == graphs_.rend() ? std::nullopt : std::optional(found->id);
}

void StreamRepeats::keep(GraphId id, const GraphView& graph, const CapabilityTable& answers) {
    KnownGraph& known = graphs_.emplace_back();
    known.id = id;
    known.hash = hash_of(graph);
    known.graph = OwnedGraph::copy_of(graph);
    known.answers = answers;
    known.answers.session = nullptr;
    for (Answer& answer : known.answers.op_answers) {
        answer.detail = answer.detail.empty() ? std::string_view() : *known.details.emplace(answer.detail).first;
    }
    for (n_tensors_ += graph.tensors.size(); n_tensors_ > most_kept_tensors && graphs_.size() > 1; graphs_.pop_front()) {
        n_tensors_ -= graphs_.front().graph.tensors.size();
    }
}

std::optional<EvaluationId> StreamRepeats::plan(const PlanRecords& plan) const {
    const auto changes_memory = [](const Fact& f) {
        return std::holds_alternative<record::Reallocation>(f) || std::holds_alternative<record::BufferSize>(f);
    };
    if (std::any_of(plan.facts.begin(), plan.facts.end(), changes_memory)) {
        return std::nullopt;
    }
    const auto found = std::find_if(plans_.rbegin(), plans_.rend(), [&](const KnownPlan& k) { return same_plan(k.plan, plan); });
    return found == plans_.rend() ? std::nullopt : std::optional(found->made_in);
}

void StreamRepeats::keep(EvaluationId made_in, PlanRecords plan) {
    n_facts_ += plan.facts.size();
    plans_.push_back({made_in, std::move(plan)});
    for (; n_facts_ > most_kept_facts && plans_.size() > 1; plans_.pop_front()) {
        n_facts_ -= plans_.front().plan.facts.size();
    }
}

} // namespace schedscope::import
