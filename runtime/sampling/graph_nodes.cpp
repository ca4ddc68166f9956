#include "runtime/sampling/graph_nodes.h"

#include "runtime/tensor/ops.h"

namespace schedscope::graph_nodes {

Tensor* pick(Graph& g, Tensor* x, Tensor* places) {
    Tensor* elements = ops::get_rows(g, ops::reshape(g, x, {1, x->ne[0], 1, 1}), places);
    return ops::reshape(g, elements, {places->ne[0], 1, 1, 1});
}

void keep_places(Graph& g, GraphCandidates& c, Tensor* places) {
    c.logits = pick(g, c.logits, places);
    c.ids = c.ids != nullptr ? pick(g, c.ids, places) : places;
}

void sort(Graph& g, GraphCandidates& c) {
    if (!c.sorted) {
        keep_places(g, c, ops::argsort(g, c.logits, true));
        c.sorted = true;
    }
}

void keep_masked(Graph& g, GraphCandidates& c, Tensor* mask) {
    c.logits = ops::add(g, c.logits, ops::log(g, mask)); // log 1 = 0, log 0 = −∞
    c.left = ops::sum(g, mask);
}

Tensor* by_token(Graph& g, const GraphCandidates& c, Tensor* values, Tensor* ids, float otherwise) {
    const int64_t n_vocab = c.vocabulary->ne[0];
    Tensor* table = ops::fill(g, ops::reshape(g, c.vocabulary, {1, n_vocab, 1, 1}), otherwise);
    table = ops::set_rows(g, table, values, ids);
    if (c.ids != nullptr) {
        table = ops::get_rows(g, table, c.ids);
    }
    return ops::reshape(g, table, {c.logits->ne[0], 1, 1, 1});
}

void choose(Graph& g, GraphCandidates& c, Tensor* place, Tensor* weights) {
    c.token = c.ids != nullptr ? pick(g, c.ids, place) : place;
    c.likelihood = pick(g, weights, place);
}

} // namespace schedscope::graph_nodes
