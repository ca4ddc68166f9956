#include "runtime/planner/graph_view.h"

namespace schedscope {

OwnedGraph OwnedGraph::copy_of(const GraphView& view) {
    OwnedGraph graph;
    graph.tensors.assign(view.tensors.begin(), view.tensors.end());
    graph.leafs.assign(view.leafs.begin(), view.leafs.end());
    graph.nodes.assign(view.nodes.begin(), view.nodes.end());
    for (TensorInfo& tensor : graph.tensors) {
        tensor.name = graph.keep(tensor.name);
    }
    return graph;
}

void OwnedGraph::clear() {
    tensors.clear();
    leafs.clear();
    nodes.clear();
    names_.clear();
}

} // namespace schedscope
