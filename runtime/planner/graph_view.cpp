#include "runtime/planner/graph_view.h"

namespace schedscope {

size_t n_bytes(const TensorInfo& t) noexcept {
    if (t.foreign == nullptr || t.foreign->type.empty()) {
        return n_bytes(*t.type, *t.ne, *t.nb);
    }
    if (!t.nb) {
        return 0;
    }
    size_t bytes = (*t.nb)[1]; // of a row
    for (int d = 0; d < max_dims; ++d) {
        if ((*t.ne)[d] == 0) {
            return 0;
        }
        bytes += d == 0 ? 0 : ((*t.ne)[d] - 1) * (*t.nb)[d];
    }
    return bytes;
}

OwnedGraph OwnedGraph::copy_of(const GraphView& view) {
    OwnedGraph graph;
    graph.tensors.assign(view.tensors.begin(), view.tensors.end());
    graph.leafs.assign(view.leafs.begin(), view.leafs.end());
    graph.nodes.assign(view.nodes.begin(), view.nodes.end());
    for (TensorInfo& tensor : graph.tensors) {
        tensor.name = graph.keep(tensor.name);
        tensor.foreign = tensor.foreign == nullptr ? nullptr : graph.keep(*tensor.foreign);
    }
    return graph;
}

void OwnedGraph::clear() {
    tensors.clear();
    leafs.clear();
    nodes.clear();
    names_.clear();
    foreign_.clear();
}

} // namespace schedscope
