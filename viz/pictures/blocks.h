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
    std::string title() const; ///< "block 3", "before the blocks"
};

/// By position in the order. A node whose name tells none belongs to the block of the node before it, as long as another of that
/// block or a later one follows; before the first block and behind the last one it is outside.
std::vector<NodeBlock> blocks_of(const Subject& subject);

} // namespace schedscope
