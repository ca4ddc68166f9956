// What happens between pass 5 and the memory plan: the graph's sources are pointed to the copies, and each backend gets its
// splits to reorder and fuse.

#include "runtime/scheduler/optimise.h"

#include "runtime/backend/order/node_order.h"
#include "runtime/error.h"
#include "runtime/numbers.h"
#include "runtime/scheduler/kept_ranges.h"
#include "runtime/scheduler/watch.h"

#include <algorithm>

namespace schedscope {

namespace {

void make_copies(LivePlan& live, const LiveDevices& devices) {
    live.copies.clear();
    const Plan& plan = live.plan;
    for (size_t i = 0; i < plan.copies.size(); ++i) {
        const Copy& copy = plan.copies[i];
        const Tensor& original = *live.tensors[copy.of];
        Tensor& t = live.copies.emplace_back();
        t.id = plan.n_tensors + int_of(i);
        t.type = original.type;
        t.ne = original.ne;
        t.nb = original.nb;
        t.flags = plan.flags[t.id];
        t.name = copy_name(devices.backend(copy.backend).name(), original.name, copy.stage);
    }
}

/// The order must be a permutation in which no node comes before one that it depends on, through a source or through memory.
void check_order(std::span<Tensor* const> before, const SplitGraph& split, const std::vector<int32_t>& position_before,
                 int32_t first_node, std::string_view backend) {
    const std::string its_step = std::string(backend) + ": its optimise step ";
    std::vector<uint8_t> there(before.size());
    for (const Tensor* node : split.nodes) {
        const size_t id = node->id;
        const int32_t at = id < position_before.size() ? position_before[id] - first_node : -1;
        if (is_index(at, there)) {
            there[at] = 1;
        }
    }
    if (split.nodes.size() != before.size() || std::count(there.begin(), there.end(), 0) != 0) {
        throw Error(ErrorKind::device, its_step + "left out nodes");
    }
    if (const BrokenOrder broken = broken_order(before, split.nodes); broken.earlier != nullptr) {
        const bool source =
            std::find(broken.later->src.begin(), broken.later->src.end(), broken.earlier) != broken.later->src.end();
        throw Error(ErrorKind::device, its_step + "put '" + broken.later->name + "' before " +
                                           (source ? "its source '" : "a node that uses the same memory, '") +
                                           broken.earlier->name + "'");
    }
}

void record_split(const LivePlan& live, int32_t index, const std::vector<int32_t>& position_before, Recorder& recorder) {
    const Split& split = live.plan.splits[index];
    const SplitGraph& graph = live.splits[index];
    for (size_t i = 0; i < graph.nodes.size(); ++i) {
        const int32_t from = position_before[graph.nodes[i]->id];
        const int32_t to = split.first_node + int_of(i);
        if (from != to) {
            recorder.add(record::Reorder{index, graph.nodes[i]->id, from, to});
        }
    }
    for (const FusionGroup& group : graph.groups) {
        recorder.add(
            record::Fusion{index, split.backend, split.first_node + group.first, group.count, recorder.intern(group.kernel)});
    }
    for (const UnfusedPair& pair : graph.not_fused) {
        recorder.add(record::NotFused{index, split.backend, graph.nodes[pair.first]->id, graph.nodes[pair.second]->id,
                                      recorder.intern(pair.why)});
    }
}

} // namespace

void optimise_splits(LivePlan& live, const LiveDevices& devices, Recorder* recorder) {
    if (recorder != nullptr) {
        recorder->add(record::PassBegin{Pass::optimise});
    }
    make_copies(live, devices);
    for (const Rewire& rewire : live.plan.rewires) {
        live.tensor(rewire.node).src[rewire.source] = &live.tensor(rewire.copy);
    }

    const std::span<Tensor* const> nodes = live.graph->nodes();
    std::vector<int32_t> position_before(live.plan.n_tensors, -1);
    for (size_t i = 0; i < nodes.size(); ++i) {
        position_before[nodes[i]->id] = int_of(i);
    }
    live.splits.resize(live.plan.splits.size());
    live.kernels.assign(live.plan.splits.size(), {});
    live.order.clear();
    live.kept.clear();
    for (size_t s = 0; s < live.splits.size(); ++s) {
        const Split& split = live.plan.splits[s];
        SplitGraph& graph = live.splits[s];
        graph.nodes.assign(nodes.begin() + split.first_node, nodes.begin() + split.end_node);
        graph.groups.clear();
        graph.not_fused.clear();
        Backend& backend = devices.backend(split.backend);
        backend.optimise(graph);
        const std::span<Tensor* const> before = nodes.subspan(split.first_node, split.end_node - split.first_node);
        check_order(before, graph, position_before, split.first_node, backend.name());
        if (live.watched) {
            take_apart_watched(graph);
        }
        for (const Tensor* node : graph.nodes) {
            live.order.push_back(node->id);
        }
        note_kept(graph, split.first_node, live.kept);
        if (recorder != nullptr) {
            record_split(live, int_of(s), position_before, *recorder);
        }
    }
    if (recorder != nullptr) {
        recorder->add(record::PassEnd{Pass::optimise});
    }
}

void undo(LivePlan& live) {
    if (live.graph == nullptr) {
        return;
    }
    for (const Rewire& rewire : live.plan.rewires) {
        live.tensor(rewire.node).src[rewire.source] = &live.tensor(rewire.original);
    }
    for (Tensor* t : live.placed) {
        t->buffer = nullptr;
        t->offset = 0;
    }
    live.placed.clear();
    for (size_t id = 0; id < live.tensors.size(); ++id) {
        live.tensors[id]->flags = live.info.tensors[id].flags;
    }
    live.graph = nullptr;
}

} // namespace schedscope
