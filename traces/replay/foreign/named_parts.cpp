#include "traces/replay/foreign/named_parts.h"

#include "runtime/numbers.h"
#include "runtime/planner/placement/policy.h"
#include "traces/history/words/layer_in_name.h"
#include "traces/history/words/part_by_name.h"
#include "traces/replay/foreign/llama_age.h"
#include "traces/replay/rehome.h"

#include <algorithm>

namespace schedscope {

namespace {

bool is_weight(const TensorInfo& t) noexcept { return t.usage == BufferUsage::weights && t.buffer_type != no_buffer_type; }

} // namespace

int32_t n_named_blocks(const OwnedGraph& graph) noexcept {
    int32_t n = 0;
    for (const TensorInfo& t : graph.tensors) {
        const int32_t block = is_weight(t) && t.name.starts_with("blk.") ? layer_of_name(t.name).value_or(-1) : -1;
        if (block < n_of(graph.tensors)) { // more than there are tensors is a name like any other
            n = std::max(n, block + 1);
        }
    }
    return n;
}

void name_parts(OwnedGraph& graph) {
    const int32_t n_blocks = n_named_blocks(graph);
    const auto block_of = [&](const TensorInfo& t) {
        const int32_t block = layer_of_name(t.name).value_or(-1);
        return block < n_blocks ? block : -1;
    };
    for (TensorInfo& t : graph.tensors) {
        if (is_weight(t) && t.name.starts_with("blk.")) {
            t.role = Role::attention; // of a block's parts any: the layer decides
            t.layer = block_of(t);
        } else if (t.is_leaf() && role_of(t) == Role::cache) {
            t.role = Role::cache;
            t.layer = block_of(t);
        }
    }
    const auto is_in_block = [&](TensorId id) { return block_of(graph.tensors[id]) >= 0; };
    const auto first = std::find_if(graph.nodes.begin(), graph.nodes.end(), is_in_block);
    const auto end = std::find_if(graph.nodes.rbegin(), graph.nodes.rend(), is_in_block).base();
    int32_t block = -1;
    for (auto node = graph.nodes.begin(); node != graph.nodes.end(); ++node) {
        TensorInfo& t = graph.tensors[*node];
        if (node < first || node >= end) {
            t.role = node < first ? Role::embedding : Role::output;
            t.layer = node < first ? -1 : n_blocks;
        } else { // without a name it belongs to those before it
            block = is_in_block(*node) ? block_of(t) : block;
            t.role = pinned_role_by_name(t); // the others don't matter
            t.layer = block;
        }
    }
}

std::optional<PlacementOptions> asked_placement(const OwnedGraph& graph, const SessionInfo& session) {
    const int32_t n_blocks = n_named_blocks(graph);
    const auto holds = [](const BackendInfo& b) { return holds_layers(b.kind.value_or("")); };
    if (n_blocks == 0 || session.backends.empty() || std::count_if(session.backends.begin(), session.backends.end(), holds) > 1) {
        return std::nullopt;
    }
    const auto is_on_host = [&](BufferTypeId type) { return !holds(session.backends[home_of_memory(session, type)]); };
    std::vector<int64_t> on_device(n_blocks + 1), on_host(n_blocks + 1); // weights, by layer
    for (const TensorId id : graph.nodes) {
        const TensorInfo& node = graph.tensors[id];
        for (const TensorId source : node.src) {
            if (source == no_tensor || !is_weight(graph.tensors[source])) {
                continue;
            }
            const TensorInfo& weight = graph.tensors[source];
            if (const int32_t layer = weight.layer >= 0 ? weight.layer : node.layer; is_index(layer, on_device)) {
                ++(is_on_host(weight.buffer_type) ? on_host : on_device)[layer];
            }
        }
    }
    PlacementOptions asked;
    asked.n_gpu_layers = 0;
    for (int32_t layer = 0; layer <= n_blocks; ++layer) {
        asked.n_gpu_layers += on_device[layer] > on_host[layer] ? 1 : 0;
    }
    const bool none_or_all = asked.n_gpu_layers == 0 || asked.n_gpu_layers == n_blocks + 1;
    const bool has_output = on_device[n_blocks] > on_host[n_blocks];
    asked.output_last = !llama_age_of(session).output_first.value_or(none_or_all || has_output);
    asked.cache_on_host = std::any_of(graph.leafs.begin(), graph.leafs.end(), [&](TensorId id) {
        const TensorInfo& t = graph.tensors[id];
        return t.role == Role::cache && is_index(t.layer, on_device) && on_device[t.layer] > on_host[t.layer] &&
               is_on_host(t.buffer_type);
    });
    return asked;
}

} // namespace schedscope
