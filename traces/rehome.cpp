#include "traces/rehome.h"

#include <algorithm>
#include <charconv>
#include <string>
#include <string_view>

namespace schedscope {

namespace {

std::optional<int32_t> number_behind(std::string_view text, std::string_view prefix, std::string_view suffix_begin = {}) {
    if (!text.starts_with(prefix)) {
        return std::nullopt;
    }
    int32_t n = 0;
    const char* end = text.data() + text.size();
    const auto [at, error] = std::from_chars(text.data() + prefix.size(), end, n);
    if (error != std::errc() || n < 0 || !std::string_view(at, static_cast<size_t>(end - at)).starts_with(suffix_begin)) {
        return std::nullopt;
    }
    return n;
}

std::string fact(const SessionInfo& session, std::string_view key) {
    for (const auto& [name, value] : session.facts) {
        if (name == key) {
            return value;
        }
    }
    return {};
}

int32_t number_or(const std::string& text, int32_t otherwise) {
    int32_t n = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), n);
    return error == std::errc() && end == text.data() + text.size() ? n : otherwise;
}

/// Which backend of a session each layer lives on; the layer behind the last is the output. The rule of -ngl: the output and the last n − 1 blocks go to the
/// devices that hold layers, in runs by their memory.
std::vector<BackendId> layer_homes(const SessionInfo& session, int32_t n_layers, int32_t n_gpu_layers) {
    const auto host = static_cast<BackendId>(session.backends.size() - 1);
    std::vector<BackendId> homes(static_cast<size_t>(n_layers) + 1, host), holders;
    std::vector<float> shares;
    bool known = true;
    for (BackendId b = 0; b < host; ++b) {
        const BackendInfo& backend = session.backends[static_cast<size_t>(b)];
        if (backend.kind == "gpu" || backend.kind == "software") {
            holders.push_back(b);
            shares.push_back(static_cast<float>(backend.memory_bytes));
            known = known && backend.memory_bytes > 0;
        }
    }
    const int32_t offloaded = holders.empty() ? 0 : std::clamp(n_gpu_layers, 0, n_layers + 1);
    float sum = 0;
    for (float& share : shares) {
        share = sum += known ? share : 1.0F;
    }
    for (int32_t i = 0; i < offloaded; ++i) {
        const float position = static_cast<float>(i) / static_cast<float>(offloaded) * sum;
        const auto holder = std::upper_bound(shares.begin(), shares.end() - 1, position) - shares.begin();
        homes[static_cast<size_t>(n_layers + 1 - offloaded + i)] = holders[static_cast<size_t>(holder)];
    }
    return homes;
}

/// The layer that a tensor is placed by, if it is.
class Layers {
public:
    Layers(const OwnedGraph& graph, int32_t n_layers)
        : graph_(graph), n_layers_(n_layers), looked_up_(graph.tensors.size(), false) {
        for (const TensorInfo& t : graph.tensors) {
            if (t.op == Op::GET_ROWS && t.src[0] >= 0) {
                looked_up_[static_cast<size_t>(t.src[0])] = true;
            }
        }
    }

    std::optional<int32_t> of(size_t id) const {
        const TensorInfo& t = graph_.tensors[id];
        std::optional<int32_t> layer;
        for (const auto& [prefix, behind] : {std::pair{"blk.", "."}, std::pair{"cache_k_l", ""}, std::pair{"cache_v_l", ""}}) {
            layer = layer ? layer : number_behind(t.name, prefix, behind);
        }
        // A tied embedding is looked up in on the host, and has a second copy where the output is.
        const bool tied = t.name == "token_embd.weight" && !looked_up_[id];
        if (t.usage == BufferUsage::weights && (t.name.starts_with("output") || tied)) {
            layer = n_layers_;
        }
        return layer && *layer <= n_layers_ ? layer : std::nullopt;
    }

private:
    const OwnedGraph& graph_;
    int32_t n_layers_;
    std::vector<bool> looked_up_;
};

int32_t count_layers(const SessionInfo& session, const OwnedGraph& graph) {
    int32_t n = number_or(fact(session, "n_layers"), 0);
    for (const TensorInfo& t : graph.tensors) {
        constexpr int32_t most = 1 << 20; // names come from a file
        if (const auto layer = number_behind(t.name, "blk.", "."); layer && *layer < most) {
            n = std::max(n, *layer + 1);
        }
    }
    return n;
}

void renumber(ReplayInput& in, const SessionInfo& recorded, const std::vector<BackendId>& order) {
    in.session.backends.clear();
    std::vector<Answer> answers;
    std::vector<uint8_t> offload;
    const size_t n = in.graph.tensors.size();
    for (const BackendId b : order) {
        in.session.backends.push_back(recorded.backends[static_cast<size_t>(b)]);
        const auto first = static_cast<std::ptrdiff_t>(static_cast<size_t>(b) * n);
        const auto count = static_cast<std::ptrdiff_t>(n);
        if (static_cast<size_t>(first + count) <= in.answers.op_answers.size()) {
            answers.insert(answers.end(), in.answers.op_answers.begin() + first, in.answers.op_answers.begin() + first + count);
            offload.insert(offload.end(), in.answers.offload_answers.begin() + first,
                           in.answers.offload_answers.begin() + first + count);
        }
    }
    in.answers.op_answers = std::move(answers);
    in.answers.offload_answers = std::move(offload);
}

} // namespace

void rehome(ReplayInput& in, const SessionInfo& recorded, const std::vector<BackendId>& order,
            std::optional<int32_t> n_gpu_layers) {
    renumber(in, recorded, order);
    constexpr int32_t all = 99;
    const int32_t n_layers = count_layers(recorded, in.graph);
    const int32_t recorded_ngl = number_or(fact(recorded, "n_gpu_layers"), all);
    const std::vector<BackendId> before = layer_homes(recorded, n_layers, recorded_ngl);
    const std::vector<BackendId> after = layer_homes(in.session, n_layers, n_gpu_layers.value_or(recorded_ngl));
    const auto host = static_cast<BackendId>(in.session.backends.size() - 1);
    const auto type_of = [](const SessionInfo& session, BackendId b) {
        return session.backends[static_cast<size_t>(b)].default_buffer_type;
    };
    const bool cache_on_host = fact(recorded, "cache_on_host") == "yes";

    const Layers layers(in.graph, n_layers);
    for (size_t id = 0; id < in.graph.tensors.size(); ++id) {
        TensorInfo& t = in.graph.tensors[id];
        if (t.buffer_type == no_buffer_type) {
            continue;
        }
        const std::optional<int32_t> layer = layers.of(id);
        const bool of_cache = t.name.starts_with("cache_");
        const bool by_rule =
            layer && t.buffer_type == type_of(recorded, before[static_cast<size_t>(*layer)]) && !(of_cache && cache_on_host);
        if (by_rule) {
            t.buffer_type = type_of(in.session, after[static_cast<size_t>(*layer)]);
        }
        // Memory of a device that is no longer there.
        const auto can_use = [&](const BackendInfo& b) {
            return b.supports_buffer_type[static_cast<size_t>(t.buffer_type)] != 0;
        };
        if (std::none_of(in.session.backends.begin(), in.session.backends.end(), can_use)) {
            t.buffer_type = type_of(in.session, host);
        }
    }

    constexpr int32_t small_batch = 32; // norms of a layer are pinned to its device for fewer tokens, or where all is offloaded
    const bool full = n_gpu_layers.value_or(recorded_ngl) > n_layers && after[static_cast<size_t>(n_layers)] != host;
    for (size_t id = 0; id < in.graph.tensors.size(); ++id) {
        TensorInfo& t = in.graph.tensors[id];
        const std::optional<int32_t> layer = number_behind(t.name, "norm-");
        if (layer && *layer < n_layers && t.op != Op::NONE) {
            const BackendId home = after[static_cast<size_t>(*layer)];
            const bool runs = in.answers.op_answers.empty() || in.answers.supports_op(home, static_cast<TensorId>(id)).yes;
            t.user_backend = (in.n_tokens < small_batch || full) && runs ? home : no_backend;
        } else if (t.user_backend != no_backend) {
            const auto at = std::find(order.begin(), order.end(), t.user_backend);
            t.user_backend = at == order.end() ? host : static_cast<BackendId>(at - order.begin());
        }
    }
}

} // namespace schedscope
