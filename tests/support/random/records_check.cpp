#include "tests/support/random/records_check.h"

#include <algorithm>
#include <map>
#include <tuple>

namespace schedscope::test {

namespace {

using namespace record;

/// What the records of one plan add up to.
struct Folded {
    std::map<TensorId, Assignment> assignments;
    std::vector<Split> splits;
    std::vector<TensorId> split_inputs, graph_inputs;
    std::map<std::tuple<TensorId, BackendId, int>, TensorId> copies;
    std::map<std::pair<TensorId, int>, std::pair<TensorId, TensorId>> rewires;
    std::map<TensorId, Placement> placements;
    int n_reallocations = 0;

    void add(const Fact& fact) {
        if (const auto* a = std::get_if<Assign>(&fact)) {
            assignments[a->tensor] = {*a->after, *a->cause, a->source};
        } else if (const auto* begin = std::get_if<SplitBegin>(&fact)) {
            Split& split = splits.emplace_back();
            split.backend = *begin->backend;
            split.why = *begin->why;
            split.first_node = *begin->first_node;
            split.first_input = static_cast<int32_t>(split_inputs.size());
        } else if (const auto* end = std::get_if<SplitEnd>(&fact)) {
            splits.at(static_cast<size_t>(end->index)).end_node = *end->end_node;
            splits.at(static_cast<size_t>(end->index)).n_inputs = end->n_inputs;
        } else if (const auto* input = std::get_if<SplitInput>(&fact)) {
            split_inputs.push_back(input->tensor);
        } else if (const auto* copy = std::get_if<CopyMade>(&fact)) {
            copies[{copy->of, copy->backend, *copy->stage}] = copy->copy;
        } else if (const auto* rewired = std::get_if<Rewired>(&fact)) {
            rewires[{rewired->node, rewired->source}] = {rewired->original, rewired->copy};
        } else if (const auto* graph_input = std::get_if<GraphInput>(&fact)) {
            graph_inputs.push_back(graph_input->tensor);
        } else if (const auto* placement = std::get_if<Placement>(&fact)) {
            placements[placement->tensor] = *placement;
        } else if (std::get_if<Reallocation>(&fact) != nullptr) {
            ++n_reallocations;
        }
    }
};

bool same(const Assignment& a, const Assignment& b) {
    return a.backend == b.backend && a.cause == b.cause && (a.source == b.source || a.cause != Cause::weight);
}

std::string check_passes(const PlanView& view, std::span<const Snapshot> passes, std::span<const Record> records) {
    Folded folded;
    size_t next = 0;
    for (const Snapshot& snapshot : passes) {
        for (; next < snapshot.n_records; ++next) {
            folded.add(records[next].fact);
        }
        for (size_t id = 0; id < snapshot.assignments.size(); ++id) {
            if (!same(snapshot.assignments[id], folded.assignments[static_cast<TensorId>(id)])) {
                return view.name(static_cast<TensorId>(id)) + " is not where the records say after pass " +
                       std::string(pass_name(snapshot.pass));
            }
        }
    }
    return "";
}

std::string check_splits(const PlanView& view, const Folded& folded) {
    const auto split_key = [](const Split& s) {
        return std::tuple(s.backend, s.why, s.first_node, s.end_node, s.first_input, s.n_inputs);
    };
    if (!std::ranges::equal(folded.splits, view.plan.splits, {}, split_key, split_key)) {
        return "the splits of the records are others";
    }
    if (folded.split_inputs != view.plan.split_inputs || folded.graph_inputs != view.plan.graph_inputs) {
        return "the inputs of the records are others";
    }
    for (const Copy& copy : view.plan.copies) {
        const auto made = folded.copies.find({copy.of, copy.backend, copy.stage});
        const bool original = copy.id == copy.of; // nothing was made
        if (original != (made == folded.copies.end()) || (!original && made->second != copy.id)) {
            return view.name(copy.id) + " of " + view.name(copy.of) + " is not as recorded";
        }
    }
    for (const Rewire& r : view.plan.rewires) {
        const auto at = folded.rewires.find({r.node, r.source});
        if (at == folded.rewires.end() || at->second != std::pair(r.original, r.copy)) {
            return "a source of " + view.name(r.node) + " is not rewired as recorded";
        }
    }
    return folded.rewires.size() == view.plan.rewires.size() ? "" : "more sources are rewired than recorded";
}

std::string check_places(const PlanView& view, const Folded& folded) {
    if ((folded.n_reallocations > 0) != !view.memory.reason.empty()) { // the first time needs no reason
        return "whether memory was planned again is not as recorded";
    }
    for (const PlacedTensor& t : view.memory.tensors) {
        const auto at = folded.placements.find(t.tensor);
        if (at == folded.placements.end()) {
            return view.name(t.tensor) + "'s place is not recorded";
        }
        const Placement& p = at->second;
        if (std::tuple(p.buffer_type, p.chunk, p.offset, p.size, p.in_place_of, p.first_use, p.last_use) !=
            std::tuple(t.buffer_type, t.chunk, t.offset, t.size, t.in_place_of, t.first_use, t.last_use)) {
            return view.name(t.tensor) + "'s place is not as recorded";
        }
    }
    return "";
}

std::string check_answers(const PlanView& view, std::span<const Record> records) {
    for (const Record& r : records) {
        const auto* query = std::get_if<BackendQuery>(&r.fact);
        if (query == nullptr) {
            continue;
        }
        bool yes = false;
        switch (query->question) {
        case Question::op: yes = view.answers.supports_op(query->backend, query->tensor).yes; break;
        case Question::buffer_type: yes = view.answers.supports_buffer_type(query->backend, query->buffer_type); break;
        case Question::offload: yes = view.answers.wants_offload(query->backend, query->tensor); break;
        }
        if (yes != query->yes) {
            return "an answer about " + view.name(query->tensor) + " is not what was recorded";
        }
    }
    return "";
}

} // namespace

std::string check_records(const PlanView& view, std::span<const Snapshot> passes, std::span<const Record> records) {
    Folded folded;
    for (const Record& r : records) {
        folded.add(r.fact);
    }
    for (std::string wrong : {check_passes(view, passes, records), check_splits(view, folded), check_places(view, folded),
                              check_answers(view, records)}) {
        if (!wrong.empty()) {
            return wrong;
        }
    }
    return "";
}

} // namespace schedscope::test
