#include "tests/support/random/random_sketch.h"

#include "runtime/scheduler/live_graph.h"

#include <random>

namespace schedscope::test {

OwnedGraph random_sketch(const RandomShape& shape, const SessionInfo& session) {
    RandomGraph random(any_steps(), shape);
    LiveDevices nowhere({});
    OwnedGraph named_there; // by the names of a graph that goes away
    describe(random.graph, nowhere, named_there);
    OwnedGraph graph = OwnedGraph::copy_of(named_there.view());

    std::mt19937 choose(shape.seed);
    for (const TensorId leaf : graph.leafs) {
        TensorInfo& t = graph.tensors[leaf];
        if ((t.flags & flag_input) == 0) {
            t.buffer_type = *session.backends[choose() % session.backends.size()].default_buffer_type;
            t.usage = t.name.starts_with("cache") ? BufferUsage::any : BufferUsage::weights;
        }
    }
    for (const TensorId node : graph.nodes) {
        if (TensorInfo& t = graph.tensors[node]; !t.is_view() && choose() % 12 == 0) {
            t.user_backend = narrow<BackendId>(choose() % session.backends.size());
        }
    }
    return graph;
}

} // namespace schedscope::test
