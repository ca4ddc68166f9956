#pragma once

#include "runtime/planner/graph_view.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace schedscope {

/// Which tensor of one graph is which of another.
struct Alignment {
    std::vector<TensorId> in_b; ///< by tensor of a; no_tensor: only a has it
    std::vector<TensorId> in_a; ///< by tensor of b; no_tensor: only b has it
    int64_t work = 0;           ///< tensors and neighbours looked at; grows as the graphs do
};

/// Aligns two graphs by what they compute, not by what their tensors are called; a name only decides between tensors that nothing
/// else tells apart, and their order where names don't either.
///
/// From exact likeness down to that of operators alone: tensors with the same computation above and below them are the same; then
/// those with the same above or the same below (a node put in between changes what is below its ancestors and above its
/// descendants, not the other way); then, from each pair, those that stand to both in the same relation and are the only ones.
/// Tensors that are aligned have the same operator.
Alignment align(const OwnedGraph& a, const OwnedGraph& b);

/// Of a graph as a log lists it (nodes but for views, each with its sources) and one that is known as a whole: where both have
/// the same operators at the same places, nodes are the same in order, and so is what they read, slot by slot. Nothing: they have
/// not.
std::optional<Alignment> align_listed(const OwnedGraph& listed, const OwnedGraph& whole);

/// The same for two graphs of one program, where a name is the same tensor whatever it is computed from: tensors are aligned by
/// operator and name, those whose name says only a position by operator, type, extents and sources; several alike in order of
/// their ids. [n_tensors of a] ids in b, no_tensor where it has none.
std::vector<TensorId> align_by_name(const OwnedGraph& a, const OwnedGraph& b);

} // namespace schedscope
