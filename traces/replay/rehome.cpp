#include "traces/replay/rehome.h"

#include "runtime/numbers.h"

#include <algorithm>
#include <map>
#include <string_view>

namespace schedscope {

namespace {

/// The last one of the order is the host.
void renumber(ReplayInput& in, const SessionInfo& recorded, const std::vector<BackendId>& order) {
    in.session.backends.clear();
    for (const BackendId b : order) {
        in.session.backends.push_back(recorded.backends[b]);
    }
    in.answers.keep_backends(order);
    in.renumbered = true;
    for (TensorInfo& t : in.graph.tensors) {
        if (t.user_backend != no_backend) {
            const auto at = std::find(order.begin(), order.end(), t.user_backend);
            t.user_backend = narrow<BackendId>(std::min(at, order.end() - 1) - order.begin());
        }
    }
}

class Rehoming {
public:
    Rehoming(ReplayInput& in, const PlacementPolicy& policy) : in_(in), graph_(in.graph), policy_(policy) {}

    void run() {
        find_readers();
        std::map<std::string_view, std::vector<TensorId>> weights; // several of a name: one in each memory
        for (size_t i = 0; i < graph_.tensors.size(); ++i) {
            if (is_weight(graph_.tensors[i])) {
                weights[graph_.tensors[i].name].push_back(int_of(i));
            }
        }
        for (const auto& [name, ids] : weights) {
            place_weights(ids);
        }
        for (size_t i = 0; i < graph_.tensors.size(); ++i) {
            TensorInfo& t = graph_.tensors[i];
            if (t.buffer_type != no_buffer_type && t.role == Role::cache) {
                t.buffer_type = type_of(policy_.cache(t.layer).home);
            } else if (t.buffer_type != no_buffer_type && t.role == Role::sampling) {
                t.buffer_type = type_of(policy_.sampling(t.layer, home_of_output()).home);
            } else if (t.role == Role::norm || t.role == Role::attended) {
                t.user_backend = narrow<BackendId>(
                    policy_
                        .pin(t.op.value_or(Op::NONE), t.part(), in_.n_tokens, [&](int32_t home) { return runs(home, int_of(i)); })
                        .home);
            }
        }
    }

private:
    using Reader = std::pair<size_t, size_t>; ///< place among the nodes, slot

    void find_readers() {
        readers_.resize(graph_.tensors.size());
        for (size_t position = 0; position < graph_.nodes.size(); ++position) {
            const TensorInfo& node = graph_.tensors[graph_.nodes[position]];
            for (size_t slot = 0; slot < max_sources; ++slot) {
                if (node.src[slot] != no_tensor) {
                    readers_[node.src[slot]].emplace_back(position, slot);
                }
            }
        }
    }

    static bool is_weight(const TensorInfo& t) { return t.buffer_type != no_buffer_type && t.usage == BufferUsage::weights; }
    BufferTypeId type_of(int32_t home) const { return or_none(in_.session.backends[home].default_buffer_type); }
    bool runs(int32_t home, TensorId id) const {
        return in_.answers.op_answers.empty() || in_.answers.supports_op(narrow<BackendId>(home), id).yes;
    }

    /// Of one name. Each reader says in which memory it wants the weight; there is one for each of these memories, in the
    /// readers' order.
    void place_weights(const std::vector<TensorId>& ids) {
        std::vector<Reader> readers;
        for (const TensorId id : ids) {
            const auto& own = readers_[id];
            readers.insert(readers.end(), own.begin(), own.end());
        }
        const auto is_known = [&](TensorId id) { return graph_.tensors[id].part() != ModelPart{}; };
        if (std::none_of(ids.begin(), ids.end(), is_known) &&
            std::none_of(readers.begin(), readers.end(), [&](const Reader& r) { return is_known(graph_.nodes[r.first]); })) {
            return;
        }
        std::sort(readers.begin(), readers.end());
        std::map<BufferTypeId, TensorId> placed;
        size_t used = 0;
        for (const auto& [position, slot] : readers) {
            const TensorId node = graph_.nodes[position];
            const TensorId source = graph_.tensors[node].src[slot];
            const BufferTypeId type = wanted_type(node, source, ids.size() == 1);
            const auto [at, is_new] = placed.try_emplace(type, no_tensor);
            if (is_new) {
                at->second = used < ids.size() ? ids[used++] : clone(ids.front());
                graph_.tensors[at->second].buffer_type = type;
            }
            graph_.tensors[node].src[slot] = at->second;
        }
        for (; used < ids.size(); ++used) { // no node reads them any more
            std::erase(graph_.leafs, ids[used]);
        }
    }

    BufferTypeId wanted_type(TensorId node, TensorId weight, bool only_one) const {
        const TensorInfo& w = graph_.tensors[weight];
        const ModelPart part = only_one && PlacementPolicy::places_weights(w.part()) ? w.part() : graph_.tensors[node].part();
        return type_of(policy_.weight(w.name, part, [&](int32_t home) { return runs(home, node); }).home);
    }

    /// Of the output's matrix; memory that is no device's own is the host's. −1: the graph has none.
    int32_t home_of_output() const {
        for (const TensorId id : graph_.nodes) {
            const TensorInfo& node = graph_.tensors[id];
            if (node.role == Role::output && node.op == Op::MUL_MAT && node.src[0] != no_tensor &&
                is_weight(graph_.tensors[node.src[0]])) {
                const BufferTypeId type = graph_.tensors[node.src[0]].buffer_type;
                int32_t home = 0;
                while (home < policy_.host() && type_of(home) != type) {
                    ++home;
                }
                return home;
            }
        }
        return -1;
    }

    /// One more of a weight, as the last tensor of the graph, with the same answers.
    TensorId clone(TensorId of) {
        const auto id = n_of(graph_.tensors);
        const TensorInfo copy = graph_.tensors[of];
        graph_.tensors.push_back(copy);
        graph_.leafs.push_back(id);
        in_.answers.add_tensor(of);
        return id;
    }

    ReplayInput& in_;
    OwnedGraph& graph_;
    const PlacementPolicy& policy_;
    std::vector<std::vector<Reader>> readers_; ///< by tensor, of the graph as recorded
};

/// Memory of a device that is no longer there: the host's.
void leave_lost_memory(ReplayInput& in) {
    for (TensorInfo& t : in.graph.tensors) {
        const auto can_use = [&](const BackendInfo& b) { return b.supports_buffer_type[t.buffer_type] != 0; };
        if (t.buffer_type != no_buffer_type && std::none_of(in.session.backends.begin(), in.session.backends.end(), can_use)) {
            t.buffer_type = or_none(in.session.backends.back().default_buffer_type);
        }
    }
}

} // namespace

void rehome(ReplayInput& in, const SessionInfo& recorded, const std::vector<BackendId>& order, const PlacementPolicy* policy) {
    renumber(in, recorded, order);
    leave_lost_memory(in);
    if (policy != nullptr) {
        Rehoming(in, *policy).run();
    }
}

} // namespace schedscope
