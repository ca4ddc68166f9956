#pragma once

#include "runtime/model/tensor_buffers.h"
#include "runtime/sampling/chain.h"
#include "runtime/sampling/graph_sampler.h"

#include <memory>
#include <span>
#include <string>
#include <vector>

namespace schedscope {

class Device;

/// Where graphs end: the device that holds the output, and what tensors are to be marked with that lie there.
struct OutputPlace {
    const Device* device = nullptr;
    LoadMode mode = LoadMode::data;
    int64_t n_vocab = 0;
    int32_t layer = -1;        ///< of the output
    std::string_view why_here; ///< it lies there; outlives the chains
};

/// How one sampler of a chain takes part in graphs.
struct SamplerPart {
    std::string_view name; ///< lives as long as the chain
    bool in_graph = false;
    bool refused = false;   ///< the device lacks an operator that it needs
    std::string why_not;    ///< in the graph
    int32_t n_nodes = 0;    ///< that it adds; nodes before the first sampler are not counted
    Tensor* last = nullptr; ///< of them, in the graph that was built last; null: none
    Tensor* left = nullptr; ///< F32 [1]: the candidates that it left, where they must be counted
    int32_t most_left = 0;  ///< candidates, by the shapes alone
};

/// The sampler chain of one sequence at the end of graphs: as many of its samplers from the front as the device can run, each
/// with its nodes in every graph. Graphs are the same whether the sequence takes part in an evaluation or not: which row of
/// logits it works on is an input, row 0 when it does not take part.
class GraphChain {
public:
    /// Asks the device about every operator, and makes the inputs there. Throws Error(device) when there is no memory.
    GraphChain(int32_t sequence, std::shared_ptr<SamplerChain> chain, const OutputPlace& place);
    GraphChain(const GraphChain&) = delete;
    GraphChain& operator=(const GraphChain&) = delete;

    SamplerChain& chain() const noexcept { return *chain_; }
    /// All samplers of the chain, in order.
    std::span<const SamplerPart> parts() const noexcept { return parts_; }
    size_t n_in_graph() const noexcept { return n_in_graph_; }

    /// The row of logits that it works on, F32 [n_vocab], in the graph that was built last; null: none of its samplers runs
    /// there.
    const Tensor* row() const noexcept { return n_in_graph_ > 0 ? result_.vocabulary : nullptr; }

    /// Adds the nodes behind rows of logits, F32 [n_vocab, rows], row 0 being of no sequence. Results lie in the graph that was
    /// built last.
    void add_nodes(Graph& graph, Tensor* rows);
    /// Before an evaluation that chooses a token of the sequence from `row`, or (0) does not.
    void write_inputs(int32_t row);
    /// After it: what came out. count: also how many candidates each sampler left, which costs a small copy for those that must
    /// be counted.
    const SampledInGraph& read(bool count);

private:
    void decide(const OutputPlace& place);
    void make_inputs(const OutputPlace& place);
    /// The row that the chain works on becomes the first candidates.
    void begin(Graph& graph, Tensor* rows);
    /// The nodes of sampler i behind those of the ones before; returns them.
    std::span<Tensor* const> append(Graph& graph, size_t i);

    int32_t sequence_;
    std::shared_ptr<SamplerChain> chain_;
    std::vector<SamplerPart> parts_;
    size_t n_in_graph_ = 0;
    TensorStore inputs_;
    std::vector<std::unique_ptr<Buffer>> buffers_;
    Tensor* row_ = nullptr; ///< I32 [1]: which row of logits
    int32_t written_row_ = -1;
    bool has_memory_ = false;
    GraphCandidates result_; ///< of the graph that was built last
    SampledInGraph sampled_;
};

} // namespace schedscope
