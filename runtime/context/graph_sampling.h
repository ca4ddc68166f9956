#pragma once

#include "runtime/context/batch.h"
#include "runtime/context/graph_chain.h"

#include <map>
#include <memory>
#include <vector>

namespace schedscope {

class Model;

/// The sequences whose tokens are chosen in the graph, or at least begun to be. One row of no sequence is put in front of the
/// logits; behind them stand the nodes of every chain, so that graph and plan do not depend on which sequences an evaluation has:
///
///     logits [n_vocab, outputs] ── dummy row in front ──┬─ row of sequence 0 ─ top_k ─ dist ─ token
///                                                       └─ row of sequence 3 ─ …
class GraphSampling {
public:
    explicit GraphSampling(const Model& model);

    /// Gives a sequence a chain, or null: takes it away. Throws Error(device) when there is no memory for its inputs.
    void set(int32_t sequence, std::shared_ptr<SamplerChain> chain);
    /// Null: the sequence has none. A chain none of whose samplers can run in the graph is here, too.
    const GraphChain* chain(int32_t sequence) const;
    /// Sequences with at least one sampler in the graph: no logits are copied to the host for them.
    SequenceSet sequences() const noexcept { return sequences_; }
    /// Another number: other graphs.
    int32_t version() const noexcept { return version_; }

    /// Adds the nodes of all chains behind the logits [n_vocab, outputs]. No chain: nothing.
    void add_nodes(Graph& graph, Tensor* logits);
    /// No graph that was built before is used any more: what belongs to chains that were taken away can go.
    void forget_former() noexcept { former_.clear(); }

    /// The outputs that a token is to be chosen from, at most one of a sequence. Throws Error(usage) naming a sequence that has
    /// two in the batch.
    void check(const Batch& batch) const;
    /// Before an evaluation.
    void write_inputs(const Ubatch& ubatch);
    /// After it. count: see GraphChain::read.
    void read(const Ubatch& ubatch, bool count);
    /// What the graph chose or kept for a sequence in the last decode. Throws Error(usage) when that had no output for it.
    const SampledInGraph& sampled(int32_t sequence) const;
    /// Before a decode: what was sampled before is not to be had any more.
    void forget_sampled() noexcept;

private:
    struct Entry {
        std::unique_ptr<GraphChain> chain;
        const SampledInGraph* sampled = nullptr; ///< in the last decode
    };
    /// Where a token for the sequence is chosen in the ubatch: 1 + its row among the outputs; 0: nowhere.
    static int32_t row_of(const Ubatch& ubatch, int32_t sequence);

    OutputPlace place_;
    std::map<int32_t, Entry> entries_;
    std::vector<std::unique_ptr<GraphChain>> former_; ///< taken away, but nodes of the present graph may read their inputs
    SequenceSet sequences_ = 0;
    int32_t version_ = 0;
};

} // namespace schedscope
