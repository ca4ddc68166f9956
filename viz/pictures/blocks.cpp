#include "viz/pictures/blocks.h"

#include "traces/history/words/layer_in_name.h"
#include "viz/pictures/subject.h"

#include <optional>

namespace schedscope {

std::string NodeBlock::title() const {
    switch (kind) {
    case Kind::before: return "before the blocks";
    case Kind::block: return "block " + std::to_string(number);
    case Kind::after: return "behind the blocks";
    case Kind::split: return "split " + std::to_string(number);
    case Kind::all: return "all nodes";
    }
    return "";
}

std::vector<NodeBlock> blocks_of(const Subject& subject) {
    // By the order in which the model built the graph: a backend may have moved a node among those of another block.
    const auto& built = subject.graph.nodes;
    std::vector<std::optional<int32_t>> told(built.size());
    std::optional<size_t> first, last;
    for (size_t i = 0; i < built.size(); ++i) {
        told[i] = layer_of_name(subject.name(built[i]));
        if (told[i]) {
            first = first.value_or(i);
            last = i;
        }
    }
    std::vector<NodeBlock> blocks(subject.state.order.size());
    int32_t present = 0;
    for (size_t i = 0; i < built.size(); ++i) {
        const int32_t position = subject.position(built[i]);
        if (position < 0) {
            continue;
        }
        NodeBlock& block = blocks[position];
        if (!first) {
            const int32_t split = subject.split_of(built[i]);
            block = split >= 0 ? NodeBlock{NodeBlock::Kind::split, split} : NodeBlock{};
        } else if (i < *first) {
            block = {NodeBlock::Kind::before, 0};
        } else if (i > *last) {
            block = {NodeBlock::Kind::after, 0};
        } else {
            present = told[i].value_or(present);
            block = {NodeBlock::Kind::block, present};
        }
    }
    return blocks;
}

} // namespace schedscope
