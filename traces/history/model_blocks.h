#pragma once

#include "runtime/planner/graph_view.h"

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace schedscope {

/// Where in the model a node lies.
struct ModelBlock {
    enum class Kind : uint8_t { unknown, before, block, after };
    Kind kind = Kind::unknown; ///< no node of the graph tells a block
    int32_t number = 0;        ///< of the block, or layer; else 0
    bool operator==(const ModelBlock&) const = default;
    /// "layer 3", "before the layers", "output"; unknown: "no layer".
    std::string title() const;
};

/// By tensor, of nodes. One that tells no block, by its layer or its name, belongs to the block of the node before it, as long as
/// another of that block or a later one follows; before the first block and behind the last one it is outside. By the order in
/// which the model built the graph: a backend may have moved a node among those of another block.
std::vector<ModelBlock> model_blocks(const OwnedGraph& graph, const std::function<std::string(TensorId)>& name);

} // namespace schedscope
