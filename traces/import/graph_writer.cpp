#include "traces/import/graph_writer.h"

#include "runtime/numbers.h"

#include <algorithm>

namespace schedscope::import {

namespace {

constexpr size_t most_recent = 8;

bool same_tensor(const TensorInfo& a, const TensorInfo& b) {
    return a.op == b.op && a.params == b.params && a.src == b.src && a.name == b.name && a.ne == b.ne && a.type == b.type;
}
bool same(const OwnedGraph& a, const OwnedGraph& b) {
    return a.nodes == b.nodes && std::equal(a.tensors.begin(), a.tensors.end(), b.tensors.begin(), b.tensors.end(), same_tensor);
}

/// The pass that a rule belongs to; a neighbour's backend (2.sup) is given in four sweeps and in pass 4: which one, no log tells.
std::optional<Pass> pass_of(std::optional<Cause> cause) noexcept {
    switch (cause.value_or(Cause::none)) {
    case Cause::user:
    case Cause::dst:
    case Cause::view_source:
    case Cause::input:
    case Cause::offload:
    case Cause::weight: return Pass::place;
    case Cause::best:
    case Cause::upgrade: return Pass::refine;
    case Cause::source_view:
    case Cause::source_current: return Pass::sources;
    case Cause::copy: return Pass::split;
    case Cause::none:
    case Cause::supported: break;
    }
    return std::nullopt;
}

template <typename Id> std::optional<Id> known_id(Id id) noexcept { return id >= 0 ? std::optional(id) : std::nullopt; }

std::optional<int32_t> said(int32_t n) noexcept { return n > 0 ? std::optional(n) : std::nullopt; }

/// Sizes are logged rounded down: "0K" says only that there is less than one KiB of it, which is not known in bytes.
std::optional<int64_t> known_bytes(std::optional<int64_t> logged) noexcept { return logged == 0 ? std::nullopt : logged; }

} // namespace

GraphId GraphWriter::graph_id(const OwnedGraph& graph) {
    for (const auto& [id, known] : recent_) {
        if (same(known, graph)) {
            return id;
        }
    }
    const GraphId id = n_graphs_++;
    sink_.graph(id, graph.view(), CapabilityTable());
    recent_.emplace_front(id, OwnedGraph::copy_of(graph.view()));
    if (recent_.size() > most_recent) {
        recent_.pop_back();
    }
    return id;
}

void GraphWriter::write(const LoggedGraph& graph, const GraphContext& context) {
    const GraphId id = graph_id(graph.graph);
    record::EvaluationBegin begin;
    begin.kind = context.reserve ? GraphKind::reserve : graph.kind;
    begin.planned_in = n_written_;
    begin.n_tokens = graph.n_tokens;
    begin.n_sequences = begin.n_outputs = std::nullopt;
    if (context.reserve) {
        begin.n_tokens = said(context.reserve->n_tokens);
        begin.n_sequences = said(context.reserve->n_sequences);
        begin.n_outputs = said(context.reserve->n_outputs);
    }
    add(begin);
    if (context.reserve) {
        add(record::Reserve{id, context.reserve->n_tokens, 0});
    }
    const std::optional<int32_t> n_nodes = graph.has_nodes ? std::optional(n_of(graph.graph.nodes)) : std::nullopt;
    add(record::PlanBegin{id, n_nodes, std::nullopt, std::nullopt, std::nullopt, std::nullopt});
    write_assignments(graph);
    write_splits(graph);
    add(record::PlanEnd{n_of(graph.splits), n_of(graph.copies), 0});
    for (const auto& [type, bytes] : context.buffers) {
        add(record::BufferSize{type, 0, bytes, std::nullopt});
    }
    add(record::EvaluationEnd{});
    ++n_written_;
    sink_.flush();
}

void GraphWriter::write_assignments(const LoggedGraph& graph) {
    for (size_t i = 0; i < graph.placed.size(); ++i) {
        const LoggedGraph::Placed& placed = graph.placed[i];
        if (placed.backend != no_backend || placed.cause) {
            add(record::Assign{pass_of(placed.cause), placed.cause, placed.source, std::nullopt, known_id(placed.backend),
                               int_of(i), placed.by});
        }
    }
}

void GraphWriter::write_splits(const LoggedGraph& graph) {
    const auto n_tensors = n_of(graph.graph.tensors);
    auto rewire = graph.rewires.begin();
    for (size_t s = 0; s < graph.splits.size(); ++s) {
        const LoggedGraph::OneSplit& split = graph.splits[s];
        const auto index = static_cast<int32_t>(s);
        const bool has_nodes = split.end_node > split.first_node;
        const auto of_nodes = [&](int32_t n) { return has_nodes ? std::optional(n) : std::nullopt; };
        // Whose source a split's reason is, is known with the reason.
        const std::optional<TensorId> by = split.why ? std::optional(split.by) : std::nullopt;
        add(record::SplitBegin{index, split.why, known_id(split.backend), of_nodes(split.first_node), known_id(split.node), by});
        for (const LoggedGraph::InputOfSplit& input : split.inputs) {
            add(record::SplitInput{index, input.tensor, known_id(input.first_reader),
                                   known_id(graph.placed[input.tensor].backend), known_bytes(input.bytes)});
            if (input.makes_copy) {
                record::CopyMade copy;
                copy.copy = n_tensors + input.copy;
                copy.of = input.tensor;
                copy.backend = split.backend;
                copy.stage = graph.stage;
                copy.bytes = known_bytes(input.bytes);
                add(copy);
            }
        }
        // Nodes have rising ids, and rewirings stand in their order.
        const TensorId last = split.node == no_tensor ? no_tensor : graph.graph.nodes[static_cast<size_t>(split.end_node) - 1];
        for (; rewire != graph.rewires.end() && rewire->node <= last; ++rewire) {
            add(record::Rewired{rewire->node, rewire->source, graph.copies[rewire->copy].of, n_tensors + rewire->copy});
        }
        add(record::SplitEnd{index, of_nodes(split.end_node), split.n_inputs});
    }
}

} // namespace schedscope::import
