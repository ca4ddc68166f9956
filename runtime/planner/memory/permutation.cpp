#include "runtime/planner/memory/permutation.h"

#include "runtime/numbers.h"

#include <algorithm>

namespace schedscope {

bool Permutation::changed(const GraphView& graph, std::span<const TensorId> order) {
    now_.clear();
    if (!std::equal(order.begin(), order.end(), graph.nodes.begin(), graph.nodes.end())) {
        position_.resize(graph.tensors.size());
        for (size_t i = 0; i < graph.nodes.size(); ++i) {
            position_[graph.nodes[i]] = int_of(i);
        }
        for (const TensorId id : order) {
            now_.push_back(position_[id]);
        }
    }
    now_.swap(moved_);
    return now_ != moved_;
}

} // namespace schedscope
