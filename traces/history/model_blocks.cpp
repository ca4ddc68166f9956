#include "traces/history/model_blocks.h"

#include "traces/history/words/layer_in_name.h"

#include <optional>

namespace schedscope {

std::vector<ModelBlock> model_blocks(const OwnedGraph& graph, const std::function<std::string(TensorId)>& name) {
    const std::vector<TensorId>& built = graph.nodes;
    std::vector<std::optional<int32_t>> told(built.size());
    std::optional<size_t> first, last;
    for (size_t i = 0; i < built.size(); ++i) {
        told[i] = layer_of_name(name(built[i]));
        if (told[i]) {
            first = first.value_or(i);
            last = i;
        }
    }
    std::vector<ModelBlock> blocks(graph.tensors.size());
    int32_t present = 0;
    for (size_t i = 0; first && i < built.size(); ++i) {
        present = told[i].value_or(present);
        blocks[built[i]] = i < *first  ? ModelBlock{ModelBlock::Kind::before, 0}
                           : i > *last ? ModelBlock{ModelBlock::Kind::after, 0}
                                       : ModelBlock{ModelBlock::Kind::block, present};
    }
    return blocks;
}

std::string ModelBlock::title() const {
    switch (kind) {
    case Kind::before: return "before the layers";
    case Kind::block: return "layer " + std::to_string(number);
    case Kind::after: return "output";
    case Kind::unknown: break;
    }
    return "no layer";
}

} // namespace schedscope
