#include "traces/replay/rehome.h"

#include "runtime/error.h"
#include "runtime/numbers.h"
#include "runtime/planner/placement/layer_homes.h"
#include "runtime/system/read_number.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace schedscope {

namespace {

/// A fact that says a number.
int32_t number_or(const SessionInfo& session, std::string_view fact, int32_t otherwise) {
    return read_number<int32_t>(session_fact(session, fact)).value_or(otherwise);
}

std::vector<float> shares_in(const std::string& text) {
    std::vector<float> shares;
    for (const char *at = text.data(), *end = at + text.size(); at < end; ++at) {
        float share = 0;
        at = std::from_chars(at, end, share).ptr;
        shares.push_back(share);
    }
    return shares;
}

void renumber(ReplayInput& in, const SessionInfo& recorded, const std::vector<BackendId>& order) {
    in.session.backends.clear();
    std::vector<Answer> answers;
    std::vector<uint8_t> offload;
    const size_t n = in.graph.tensors.size();
    for (const BackendId b : order) {
        in.session.backends.push_back(recorded.backends[b]);
        const std::ptrdiff_t first = b * n;
        const std::ptrdiff_t count = n;
        if (static_cast<size_t>(first + count) <= in.answers.op_answers.size()) {
            answers.insert(answers.end(), in.answers.op_answers.begin() + first, in.answers.op_answers.begin() + first + count);
            offload.insert(offload.end(), in.answers.offload_answers.begin() + first,
                           in.answers.offload_answers.begin() + first + count);
        }
    }
    in.answers.op_answers = std::move(answers);
    in.answers.offload_answers = std::move(offload);
}

std::vector<LayerHolder> layer_holders(const SessionInfo& session) {
    std::vector<LayerHolder> holders;
    for (size_t b = 0; b + 1 < session.backends.size(); ++b) {
        const BackendInfo& backend = session.backends[b];
        if (holds_layers(backend.kind)) {
            holders.push_back({int_of(b), backend.memory_bytes});
        }
    }
    return holders;
}

int32_t wanted_layers(const SessionInfo& recorded, std::optional<int32_t> n_gpu_layers) {
    constexpr int32_t all = 99;
    return n_gpu_layers.value_or(number_or(recorded, "n_gpu_layers", all));
}

class Rehoming {
public:
    Rehoming(ReplayInput& in, const SessionInfo& recorded, std::optional<int32_t> n_gpu_layers)
        : in_(in), graph_(in.graph), n_layers_(number_or(recorded, "n_layers", 0)),
          host_(narrow<BackendId>(in.session.backends.size() - 1)), homes_(layer_homes_with(recorded, in.session, n_gpu_layers)),
          encoder_home_(encoder_home(wanted_layers(recorded, n_gpu_layers), layer_holders(in.session), host_)),
          full_(all_offloaded(n_layers_, wanted_layers(recorded, n_gpu_layers), layer_holders(in.session))) {}

    void run() {
        std::map<std::string_view, std::vector<TensorId>> weights; // several of a name: one in each memory
        for (size_t i = 0; i < graph_.tensors.size(); ++i) {
            TensorInfo& t = graph_.tensors[i];
            const auto id = int_of(i);
            if (t.buffer_type != no_buffer_type) {
                if (t.usage == BufferUsage::weights) {
                    weights[t.name].push_back(id);
                } else if (t.home == Home::layer) {
                    t.buffer_type = type_of(home_of(t.layer));
                }
                check_memory(t);
            }
        }
        find_readers();
        for (const auto& [name, ids] : weights) {
            place_weights(ids);
        }
        for (size_t i = 0; i < graph_.tensors.size(); ++i) {
            pin(int_of(i));
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

    BackendId home_of(int32_t layer) const { return layer >= 0 && layer <= n_layers_ ? narrow<BackendId>(homes_[layer]) : host_; }
    BufferTypeId type_of(BackendId b) const { return in_.session.backends[b].default_buffer_type; }
    bool runs(BackendId b, TensorId id) const { return in_.answers.op_answers.empty() || in_.answers.supports_op(b, id).yes; }

    /// Memory of a device that is no longer there, or that the user gave one of them by name: the host's.
    void check_memory(TensorInfo& t) const {
        const auto can_use = [&](const BackendInfo& b) { return b.supports_buffer_type[t.buffer_type] != 0; };
        if (std::none_of(in_.session.backends.begin(), in_.session.backends.end(), can_use)) {
            t.buffer_type = type_of(host_);
        }
    }

    /// Of one name. Each reader says in which memory it wants the weight; there is one for each of these memories, in the readers' order.
    void place_weights(const std::vector<TensorId>& ids) {
        const TensorInfo& first = graph_.tensors[ids.front()];
        const auto is_placed = [&](TensorId id) {
            const Home home = graph_.tensors[id].home;
            return home == Home::layer || home == Home::encoder || home == Home::shared || (home == Home::host && ids.size() > 1);
        };
        if (!std::all_of(ids.begin(), ids.end(), is_placed)) {
            return;
        }
        const bool by_reader = ids.size() > 1 || first.home == Home::shared;
        std::vector<Reader> readers;
        for (const TensorId id : ids) {
            const auto& own = readers_[id];
            readers.insert(readers.end(), own.begin(), own.end());
        }
        std::sort(readers.begin(), readers.end());
        std::map<BufferTypeId, TensorId> placed;
        size_t used = 0;
        for (const auto& [position, slot] : readers) {
            const TensorId node = graph_.nodes[position];
            const TensorId source = graph_.tensors[node].src[slot];
            const BufferTypeId type = wanted_type(node, source, by_reader);
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

    BufferTypeId wanted_type(TensorId node, TensorId weight, bool by_reader) const {
        const TensorInfo& reader = graph_.tensors[node];
        const TensorInfo& w = graph_.tensors[weight];
        BackendId home = w.home == Home::encoder ? narrow<BackendId>(encoder_home_) : home_of(w.layer);
        if (by_reader) { // a table that is looked up in lies on the host; what has no layer else is the output
            home = reader.layer >= 0 ? home_of(reader.layer) : reader.op == Op::GET_ROWS ? host_ : home_of(n_layers_);
        }
        return type_of(runs(home, node) ? home : host_);
    }

    /// One more of a weight, as the last tensor of the graph, with the same answers.
    TensorId clone(TensorId of) {
        const auto id = n_of(graph_.tensors);
        const TensorInfo copy = graph_.tensors[of];
        graph_.tensors.push_back(copy);
        graph_.leafs.push_back(id);
        std::vector<Answer> answers;
        std::vector<uint8_t> offload;
        const std::ptrdiff_t n = id;
        for (std::ptrdiff_t at = 0; at + n <= static_cast<std::ptrdiff_t>(in_.answers.op_answers.size()); at += n) {
            answers.insert(answers.end(), in_.answers.op_answers.begin() + at, in_.answers.op_answers.begin() + at + n);
            answers.push_back(in_.answers.op_answers[at + of]);
            offload.insert(offload.end(), in_.answers.offload_answers.begin() + at, in_.answers.offload_answers.begin() + at + n);
            offload.push_back(in_.answers.offload_answers[at + of]);
        }
        in_.answers.op_answers = std::move(answers);
        in_.answers.offload_answers = std::move(offload);
        in_.answers.n_tensors = n_of(graph_.tensors);
        return id;
    }

    void pin(TensorId id) const {
        TensorInfo& t = graph_.tensors[id];
        if (t.home == Home::layer_norm) {
            const BackendId home = home_of(t.layer);
            t.user_backend = (in_.n_tokens < small_batch || full_) && runs(home, id) ? home : no_backend;
        } else if (t.user_backend != no_backend && t.home == Home::host) {
            t.user_backend = host_;
        }
    }

    ReplayInput& in_;
    OwnedGraph& graph_;
    int32_t n_layers_;
    BackendId host_;
    std::vector<int32_t> homes_; ///< [n_layers + 1]
    int32_t encoder_home_;
    bool full_;
    std::vector<std::vector<Reader>> readers_; ///< by tensor, of the graph as recorded
};

} // namespace

std::vector<int32_t> layer_homes_with(const SessionInfo& recorded, const SessionInfo& session,
                                      std::optional<int32_t> n_gpu_layers) {
    const std::vector<LayerHolder> holders = layer_holders(session);
    const std::vector<float> shares = shares_in(session_fact(recorded, "tensor_split"));
    if (shares.size() > holders.size() && !holders.empty()) {
        throw Error(ErrorKind::usage, "device-order: the recorded -ts has " + std::to_string(shares.size()) + " shares for " +
                                          std::to_string(holders.size()) + " devices that can hold layers");
    }
    return layer_homes(number_or(recorded, "n_layers", 0), wanted_layers(recorded, n_gpu_layers), holders, shares,
                       n_of(session.backends) - 1);
}

void rehome(ReplayInput& in, const SessionInfo& recorded, const std::vector<BackendId>& order,
            std::optional<int32_t> n_gpu_layers) {
    const bool known =
        std::any_of(in.graph.tensors.begin(), in.graph.tensors.end(), [](const TensorInfo& t) { return t.home != Home::none; });
    if (n_gpu_layers && !known) {
        throw Error(ErrorKind::usage,
                    "ngl=" + std::to_string(*n_gpu_layers) + ": the trace does not say which layers its tensors belong to");
    }
    renumber(in, recorded, order);
    const auto host = narrow<BackendId>(in.session.backends.size() - 1);
    for (TensorInfo& t : in.graph.tensors) {
        if (t.user_backend != no_backend) {
            const auto at = std::find(order.begin(), order.end(), t.user_backend);
            t.user_backend = at == order.end() ? host : narrow<BackendId>(at - order.begin());
        }
    }
    Rehoming(in, recorded, n_gpu_layers).run();
}

} // namespace schedscope
