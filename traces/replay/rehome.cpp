#include "traces/replay/rehome.h"

#include "runtime/numbers.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
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
        find_host_memory();
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
                t.buffer_type = memory_at(policy_.cache(t.layer).home, t);
            } else if (t.buffer_type != no_buffer_type && t.role == Role::sampling) {
                t.buffer_type = memory_at(policy_.sampling(t.layer, home_of_output()).home, t);
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

    /// Programs put weights and caches on the host into other memory than its backend's own: mapped from a file, pinned.
    void find_host_memory() {
        for (const TensorInfo& t : graph_.tensors) {
            const bool holds = is_weight(t) || t.role == Role::cache;
            std::optional<BufferTypeId>& memory = is_weight(t) ? of_weights_ : of_caches_;
            if (holds && !memory && t.buffer_type != no_buffer_type && in_.session.buffer_types[t.buffer_type].is_host) {
                memory = t.buffer_type;
            }
        }
        of_caches_ = of_caches_ ? of_caches_ : plain_host_memory(in_.session);
        laid_out_ = memory_named(in_.session, laid_out_memory, false);
    }
    BufferTypeId memory_at(int32_t home, const TensorInfo& t) const {
        if (home == home_of_memory(in_.session, t.buffer_type) && !is_laid_out_no_more(t)) {
            return t.buffer_type;
        }
        const std::optional<BufferTypeId> on_host = is_weight(t)            ? of_weights_
                                                    : t.role == Role::cache ? of_caches_
                                                                            : std::nullopt;
        return home == policy_.host() && on_host ? *on_host : or_none(in_.session.backends[home].default_buffer_type);
    }
    /// With other devices there the runtime leaves weights as they are.
    bool is_laid_out_no_more(const TensorInfo& t) const {
        return in_.session.settings && is_weight(t) && !policy_.repacks() && t.buffer_type == laid_out_;
    }
    static bool is_weight(const TensorInfo& t) { return t.buffer_type != no_buffer_type && t.usage == BufferUsage::weights; }
    bool runs(int32_t home, TensorId id) const {
        return in_.answers.op_answers.empty() || in_.answers.supports_op(narrow<BackendId>(home), id).yes;
    }

    /// How the runtime lays such a weight out; null: not at all, or it is not known.
    const LaidOutType* layout(const TensorInfo& weight) const {
        if (!in_.session.settings || !laid_out_ || !weight.ne) {
            return nullptr;
        }
        const std::vector<LaidOutType>& types = in_.session.settings->laid_out;
        const auto found = std::find_if(types.begin(), types.end(), [&](const LaidOutType& l) { return weight.type == l.type; });
        return found != types.end() && found->takes(*weight.ne) && pays_laid_out(found->type, weight.role) ? &*found : nullptr;
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
        const std::vector<BufferTypeId> wanted = wanted_types(readers, ids);
        // llama.cpp of older builds has an output's matrix twice in one memory; each stays whose it is.
        const auto is_there = [&](const Reader& r, BufferTypeId type) {
            return graph_.tensors[source_of(r)].buffer_type == type;
        };
        const auto lies_with_it = [&](TensorId id) {
            return graph_.tensors[id].buffer_type == graph_.tensors[ids.front()].buffer_type;
        };
        if (!in_.session.settings && ids.size() > 1 && std::all_of(ids.begin(), ids.end(), lies_with_it) &&
            std::equal(readers.begin(), readers.end(), wanted.begin(), is_there)) {
            return;
        }
        std::map<BufferTypeId, TensorId> placed;
        size_t used = 0;
        for (size_t i = 0; i < readers.size(); ++i) {
            const auto [at, is_new] = placed.try_emplace(wanted[i], no_tensor);
            if (is_new) {
                at->second = used < ids.size() ? ids[used++] : clone(ids.front());
                graph_.tensors[at->second].buffer_type = wanted[i];
            }
            graph_.tensors[graph_.nodes[readers[i].first]].src[readers[i].second] = at->second;
        }
        for (; used < ids.size(); ++used) { // no node reads them any more
            std::erase(graph_.leafs, ids[used]);
        }
    }

    BufferTypeId wanted_type(TensorId node, TensorId weight, bool only_one) const {
        const TensorInfo& w = graph_.tensors[weight];
        const ModelPart part = only_one && PlacementPolicy::places_weights(w.part()) ? w.part() : graph_.tensors[node].part();
        const WeightHome choice = policy_.weight(w.name, part, [&](int32_t home) { return runs(home, node); });
        const bool multiplies = graph_.tensors[node].op == Op::MUL_MAT;
        return multiplies && choice.is_for_cpu_alone && layout(w) != nullptr ? *laid_out_ : memory_at(choice.home, w);
    }

    /// By reader. A matrix in which rows are looked up may be laid out only as a copy.
    std::vector<BufferTypeId> wanted_types(const std::vector<Reader>& readers, const std::vector<TensorId>& ids) const {
        std::vector<BufferTypeId> types;
        std::transform(readers.begin(), readers.end(), std::back_inserter(types),
                       [&](const Reader& r) { return wanted_type(graph_.nodes[r.first], source_of(r), ids.size() == 1); });
        const LaidOutType* const laid_out = layout(graph_.tensors[ids.front()]);
        const auto as_it_is = std::find_if(types.begin(), types.end(), [&](BufferTypeId t) { return t != laid_out_; });
        if (laid_out != nullptr && !laid_out->is_copy && as_it_is != types.end()) {
            std::replace(types.begin(), types.end(), *laid_out_, BufferTypeId{*as_it_is});
        }
        return types;
    }
    TensorId source_of(const Reader& r) const { return graph_.tensors[graph_.nodes[r.first]].src[r.second]; }

    /// Of the output's matrix; −1: the graph has none.
    int32_t home_of_output() const {
        for (const TensorId id : graph_.nodes) {
            const TensorInfo& node = graph_.tensors[id];
            if (node.role == Role::output && node.op == Op::MUL_MAT && node.src[0] != no_tensor &&
                is_weight(graph_.tensors[node.src[0]])) {
                return home_of_memory(in_.session, graph_.tensors[node.src[0]].buffer_type);
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
    std::vector<std::vector<Reader>> readers_;           ///< by tensor, of the graph as recorded
    std::optional<BufferTypeId> of_weights_, of_caches_; ///< on the host; nothing: none lies there
    std::optional<BufferTypeId> laid_out_;               ///< nothing: the runtime lays nothing out, or it is not known
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

int32_t home_of_memory(const SessionInfo& session, BufferTypeId type) noexcept {
    int32_t home = 0;
    while (home + 1 < n_of(session.backends) && session.backends[home].default_buffer_type != type) {
        ++home;
    }
    return home;
}

std::optional<BufferTypeId> memory_named(const SessionInfo& session, std::string_view name, bool is_host) noexcept {
    const auto& types = session.buffer_types;
    const auto found = std::find_if(types.begin(), types.end(),
                                    [&](const BufferTypeInfo& type) { return type.is_host == is_host && type.name == name; });
    return found == types.end() ? std::nullopt : std::optional(narrow<BufferTypeId>(found - types.begin()));
}
std::optional<BufferTypeId> plain_host_memory(const SessionInfo& session) noexcept {
    return memory_named(session, session.backends.back().name, true);
}

std::vector<PlacedDevice> placed_devices(const SessionInfo& session, const std::vector<BackendId>& order) {
    std::vector<PlacedDevice> devices;
    for (const BackendId b : order) {
        const BackendInfo& backend = session.backends[b];
        devices.push_back({backend.device, backend.kind.value_or(""), backend.memory_bytes.value_or(0)});
    }
    return devices;
}

void rehome(ReplayInput& in, const SessionInfo& recorded, const std::vector<BackendId>& order, const PlacementPolicy* policy) {
    renumber(in, recorded, order);
    leave_lost_memory(in);
    if (policy != nullptr) {
        Rehoming(in, *policy).run();
    }
}

} // namespace schedscope
