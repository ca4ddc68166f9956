#pragma once

#include "runtime/tensor/graph.h"

#include <cstdint>

namespace schedscope {

/// What passes from sampler to sampler in the graph: the candidates of one sequence. Shapes are fixed: a sampler that can't tell
/// beforehand how many it keeps gives the others a logit of −∞.
struct GraphCandidates {
    Tensor* vocabulary = nullptr; ///< F32 [n_vocab]: the row of logits that the chain began with
    Tensor* logits = nullptr;     ///< F32 [n]
    Tensor* ids = nullptr;        ///< I32 [n]: their tokens; null: all of the vocabulary, element i is token i
    bool sorted = false;          ///< logits fall; equal ones: lower token first
    Tensor* left = nullptr; ///< F32 [1]: how many logits are above −∞, from the sampler that asked last; null: it asked nothing
    Tensor* token = nullptr;      ///< I32 [1]: the chosen one; null: nothing has chosen yet
    Tensor* likelihood = nullptr; ///< F32 [1], with token: its logit, or the logarithm of its probability; not finite: there was
                                  ///< nothing to choose from
};

/// What a sampler does in the model's graph, behind the logits of one sequence. The chain that it belongs to decides whether it
/// runs there.
class GraphSampler {
public:
    virtual ~GraphSampler() = default;
    /// Makes the tensors that its nodes read besides the candidates. They get memory on the output's device.
    virtual void make_inputs(TensorStore& /*store*/, int64_t /*n_vocab*/) {}
    /// Adds its nodes to the graph and says what the candidates are now. The nodes are the same each time for the same
    /// `candidates`, whatever the sampler's state: state goes through the inputs. A sampler that is switched off adds none.
    virtual void add_nodes(Graph& graph, GraphCandidates& candidates) const = 0;
    /// Fills its inputs, once after they got memory and then before each evaluation that chooses a token of its sequence. draws:
    /// this is such an evaluation, so a random sampler draws its next number.
    virtual void write_inputs(bool /*draws*/) {}

protected:
    GraphSampler() = default;
    GraphSampler(const GraphSampler&) = default;
};

} // namespace schedscope
