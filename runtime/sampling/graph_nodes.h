#pragma once

#include "runtime/sampling/graph_sampler.h"

/// Nodes that several samplers add. All of F32 unless said otherwise.
namespace schedscope::graph_nodes {

/// Elements of x [n] (F32 or I32) by place, I32 [k] → [k].
Tensor* pick(Graph& g, Tensor* x, Tensor* places);
/// Keeps the candidates at these places, I32 [k].
void keep_places(Graph& g, GraphCandidates& c, Tensor* places);
/// Puts them in order: likeliest first.
void sort(Graph& g, GraphCandidates& c);
/// The others' logits become −∞. mask [n]: 1 stays, 0 goes.
void keep_masked(Graph& g, GraphCandidates& c, Tensor* mask);
/// One value for each candidate by its token: `values` [1, m] for the tokens `ids` I32 [m], `otherwise` for all others → [n].
Tensor* by_token(Graph& g, const GraphCandidates& c, Tensor* values, Tensor* ids, float otherwise);
/// Chooses the candidate at a place, I32 [1]; weights [n] are what its likelihood is read from.
void choose(Graph& g, GraphCandidates& c, Tensor* place, Tensor* weights);

} // namespace schedscope::graph_nodes
