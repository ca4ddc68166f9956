#include "runtime/planner/memory/allocated_graph.h"

#include "runtime/numbers.h"

#include <algorithm>
#include <utility>

namespace schedscope {

namespace {

const Copy* stages_of(const Plan& plan, TensorId of, BackendId backend) {
    return plan.copies.data() + plan.find_copies(of, backend);
}

void add_stages(const Plan& plan, TensorId of, BackendId backend, std::vector<AllocatedEntry>& leafs) {
    const Copy* stages = stages_of(plan, of, backend);
    for (int32_t stage = 0; stage < plan.n_stages; ++stage) {
        leafs.push_back({stages[stage].id, backend});
    }
}

} // namespace

void order_kept(std::vector<KeptRange>& kept, size_t from) {
    const auto begin = kept.begin() + from;
    std::sort(begin, kept.end(), [](const KeptRange& a, const KeptRange& b) { return a.first < b.first; });
    int32_t end = -1;
    const auto overlaps = [&end](const KeptRange& r) {
        const bool drop = r.first < end;
        end = std::max(end, r.end);
        return drop;
    };
    kept.erase(std::remove_if(begin, kept.end(), overlaps), kept.end());
}

void copy_graph(const GraphView& graph, const Plan& plan, std::span<const TensorId> order, AllocatedGraph& out,
                std::span<const KeptRange> kept) {
    out.nodes.clear();
    out.leafs.clear();
    out.kept.clear();
    out.kept_lists.clear();
    const auto backend_of = [&](TensorId id) { return plan.assignments[id].backend; };
    const auto inputs_of = [&](const Split& split) {
        return std::span(plan.split_inputs).subspan(split.first_input, split.n_inputs);
    };

    for (const Split& split : plan.splits) {
        for (const TensorId input : inputs_of(split)) {
            out.nodes.push_back({input, backend_of(input), true});
            out.nodes.push_back({stages_of(plan, input, split.backend)[plan.current_stage].id, split.backend});
        }
        for (int32_t i = split.first_node; i < split.end_node; ++i) {
            const TensorId node = order[i];
            if (!kept.empty() && kept.front().first == i) {
                const auto at = n_of(out.nodes);
                out.kept.push_back({at, at + kept.front().end - i});
                kept = kept.subspan(1);
            }
            out.nodes.push_back({node, backend_of(node)});
        }
    }
    if (plan.n_stages > 1) {
        for (const TensorId input : plan.graph_inputs) {
            add_stages(plan, input, backend_of(input), out.leafs);
        }
        for (const Split& split : plan.splits) {
            for (const TensorId input : inputs_of(split)) {
                add_stages(plan, input, split.backend, out.leafs);
            }
        }
    }
    for (const TensorId leaf : graph.leafs) {
        out.leafs.push_back({leaf, backend_of(leaf)});
    }
}

const std::array<TensorId, max_sources>& AllocatedGraph::list_of(const AllocatedEntry& entry) const {
    const auto at = &entry - nodes.data();
    return std::lower_bound(kept_lists.begin(), kept_lists.end(), at, [](const KeptList& l, auto i) { return l.entry < i; })
        ->tensors;
}

void keep_until(std::vector<KeptUntil>& kept, TensorId node, TensorId tensor) {
    if (kept.empty() || kept.back().node != node || kept.back().tensors.back() != no_tensor) {
        kept.emplace_back().node = node;
        kept.back().tensors.fill(no_tensor);
    }
    *std::find(kept.back().tensors.begin(), kept.back().tensors.end(), no_tensor) = tensor;
}

void add_kept(AllocatedGraph& graph, std::span<const KeptUntil> kept) {
    std::vector<AllocatedEntry> nodes;
    nodes.reserve(graph.nodes.size() + kept.size());
    for (const AllocatedEntry& entry : graph.nodes) {
        nodes.push_back(entry);
        for (const KeptUntil& k : kept) {
            if (!entry.dependency && k.node == entry.tensor) {
                graph.kept_lists.push_back({n_of(nodes), k.tensors});
                nodes.push_back({entry.tensor, entry.backend, true, true});
            }
        }
    }
    graph.nodes = std::move(nodes);
}

} // namespace schedscope
