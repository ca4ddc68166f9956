#include "runtime/scheduler/optimised_order.h"

#include "runtime/backend/described_device.h"
#include "runtime/numbers.h"
#include "runtime/scheduler/kept_ranges.h"
#include "runtime/scheduler/watch.h"

#include <algorithm>

namespace schedscope {

namespace {

/// The tensors of a graph and the copies of its plan, as the backends see them when they optimise: sources point to the copies,
/// nothing has memory.
class Tensors {
public:
    Tensors(const GraphView& graph, const Plan& plan) : all_(graph.tensors.size() + plan.copies.size()) {
        for (size_t i = 0; i < graph.tensors.size(); ++i) {
            take(all_[i], graph.tensors[i]);
            all_[i].name = graph.tensors[i].name;
            all_[i].src = sources(graph.tensors[i]);
            all_[i].view_source = at(graph.tensors[i].view_source);
        }
        for (const TensorId node : graph.nodes) {
            for (Tensor* source : at(node)->src) {
                if (source != nullptr) {
                    ++source->readers;
                }
            }
        }
        for (size_t i = 0; i < plan.copies.size(); ++i) {
            take(all_[graph.tensors.size() + i], graph.tensors[plan.copies[i].of]);
            all_[graph.tensors.size() + i].op = Op::NONE;
        }
        for (size_t i = 0; i < all_.size(); ++i) {
            all_[i].id = int_of(i);
            all_[i].flags = plan.flags[i];
        }
        for (const Rewire& r : plan.rewires) {
            at(r.node)->src[r.source] = at(r.copy);
        }
    }

    Tensor* at(TensorId id) { return id == no_tensor ? nullptr : &all_[id]; }

private:
    static void take(Tensor& t, const TensorInfo& info) {
        t.op = *info.op;
        t.type = *info.type;
        t.ne = *info.ne;
        t.nb = *info.nb;
        t.params = *info.params;
        t.view_offset = info.view_offset;
    }
    std::array<Tensor*, max_sources> sources(const TensorInfo& info) {
        std::array<Tensor*, max_sources> all{};
        for (size_t s = 0; s < all.size(); ++s) {
            all[s] = at(info.src[s]);
        }
        return all;
    }

    std::vector<Tensor> all_; // never grows: tensors point to one another
};

/// Could any backend run it? A recorded graph may be anything: what is not well formed is left as it is.
bool well_formed(const Tensor& node) {
    const auto has_elements = [](const Tensor& t) {
        return std::all_of(t.ne.begin(), t.ne.end(), [](int64_t n) { return n > 0; });
    };
    const bool writes_elsewhere = traits(node.op).target >= 0;
    if (!has_elements(node) || (writes_elsewhere && node.view_source == nullptr)) {
        return false;
    }
    for (int s = 0; s < traits(node.op).sources; ++s) {
        const Tensor* source = node.src[s];
        if (source == nullptr || !has_elements(*source)) {
            return false;
        }
    }
    return true;
}

} // namespace

OptimisedNodes optimised_nodes(const GraphView& graph, const Plan& plan, const SessionInfo& session) {
    Tensors tensors(graph, plan);
    OptimisedNodes nodes;
    nodes.n_groups = 0;
    SplitGraph split;
    for (const Split& s : plan.splits) {
        split.nodes.clear();
        split.groups.clear();
        split.not_fused.clear();
        for (int32_t i = s.first_node; i < s.end_node; ++i) {
            split.nodes.push_back(tensors.at(graph.nodes[i]));
        }
        if (std::all_of(split.nodes.begin(), split.nodes.end(), [](const Tensor* node) { return well_formed(*node); })) {
            if (const BackendInfo& backend = session.backends[s.backend]; !backend.keeps_order.value_or(false)) {
                optimise_like(backend.kind.value_or(""), split);
            }
            take_apart_watched(split);
        }
        for (const Tensor* node : split.nodes) {
            nodes.order.push_back(node->id);
        }
        *nodes.n_groups += std::ssize(split.groups);
        note_kept(split, s.first_node, nodes.kept);
    }
    return nodes;
}

} // namespace schedscope
