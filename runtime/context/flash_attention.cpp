#include "runtime/context/flash_attention.h"

#include "runtime/backend/device.h"
#include "runtime/model/architecture.h"
#include "runtime/model/graph_builder.h"

#include <vector>

namespace schedscope {

bool flash_attention_everywhere(const Model& model, Type type_k, Type type_v, int32_t n_cells) {
    const Hparams& h = model.hparams();
    if (h.head_length_k % traits(type_k).block != 0 || h.head_length_v % traits(type_v).block != 0) {
        return false;
    }
    TensorStore cache;
    std::vector<CacheLayer> layers;
    for (int32_t il = 0; il < h.n_layer; ++il) {
        layers.push_back({cache.make(type_k, {h.n_embd_k(), n_cells, 1, 1}), cache.make(type_v, {h.n_embd_v(), n_cells, 1, 1})});
    }
    Graph graph;
    const GraphSettings settings{true, n_cells};
    GraphBuilder builder(graph, model, settings, UbatchShape{}, {layers, n_cells, n_cells, false});
    model.architecture().graph(builder);
    return model.placement().flash_attention_everywhere(
        graph.nodes(), [](const Tensor* node) -> const Tensor& { return *node; },
        [&](int32_t home, const Tensor* node) { return model.device(home).supports_op(*node).yes; });
}

} // namespace schedscope
