#include "viz/pictures/blocks.h"

#include "runtime/numbers.h"
#include "traces/history/model_blocks.h"
#include "viz/pictures/subject.h"

namespace schedscope {

std::string NodeBlock::title() const {
    switch (kind) {
    case Kind::before: return ModelBlock{ModelBlock::Kind::before, 0}.title();
    case Kind::block: return ModelBlock{ModelBlock::Kind::block, number}.title();
    case Kind::after: return ModelBlock{ModelBlock::Kind::after, 0}.title();
    case Kind::split: return "split " + std::to_string(number);
    case Kind::all: return "all nodes";
    }
    return "";
}

std::vector<NodeBlock> blocks_of(const Subject& subject) {
    const std::vector<ModelBlock> of_model = model_blocks(subject.graph, [&](TensorId id) { return subject.name(id); });
    std::vector<NodeBlock> blocks(subject.state.order.size());
    for (size_t i = 0; i < blocks.size(); ++i) {
        const TensorId node = subject.state.order[i];
        const ModelBlock block = is_index(node, of_model) ? of_model[node] : ModelBlock{};
        switch (block.kind) {
        case ModelBlock::Kind::before: blocks[i] = {NodeBlock::Kind::before, 0}; break;
        case ModelBlock::Kind::block: blocks[i] = {NodeBlock::Kind::block, block.number}; break;
        case ModelBlock::Kind::after: blocks[i] = {NodeBlock::Kind::after, 0}; break;
        case ModelBlock::Kind::unknown:
            if (const int32_t split = subject.split_of(node); split >= 0) {
                blocks[i] = {NodeBlock::Kind::split, split};
            }
        }
    }
    return blocks;
}

} // namespace schedscope
