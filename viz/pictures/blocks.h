#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace schedscope {

class Subject;

/// A group of nodes that is drawn as one: a block of the model, what lies before or behind the blocks, or (in graphs whose names
/// tell nothing) a split or everything.
struct NodeBlock {
    enum class Kind : uint8_t { before, block, after, split, all };
    Kind kind = Kind::all;
    int32_t number = 0;

    bool operator==(const NodeBlock&) const = default;
    std::string title() const; ///< "layer 3", "before the layers"
};

/// By position in the order; see model_blocks.
std::vector<NodeBlock> blocks_of(const Subject& subject);

} // namespace schedscope
