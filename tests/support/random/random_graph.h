#pragma once

#include "tests/support/random/random_model.h"

namespace schedscope::test {

struct RandomShape {
    uint32_t seed = 0;
    int n_steps = 20;     ///< operators or small groups of them
    int64_t n_tokens = 4; ///< 1 to n_cache_rows
};

/// A graph of a model's operators in random order on random values: views, writes into caches, lookups, experts, values used far
/// away from where they are made, operators in place. Inputs are flagged, and so are some values as outputs; the last one always
/// is.
void build(Graph& graph, const RandomModel& model, const RandomShape& shape);

/// A graph with a model of its own, without memory, and numbered.
struct RandomGraph {
    RandomGraph(const RandomStyle& style, const RandomShape& shape) : model(shape.seed, style) {
        build(graph, model, shape);
        graph.number();
    }
    /// What somebody looks at when all is done: outputs, and the caches that were written or read.
    std::vector<Tensor*> results() const;

    RandomModel model;
    Graph graph;
};

} // namespace schedscope::test
