#pragma once

#include "runtime/backend/registry.h"
#include "runtime/context/graph_chain.h"
#include "runtime/sampling/make_chain.h"
#include "runtime/scheduler/scheduler.h"

#include <memory>
#include <string>
#include <vector>

namespace schedscope::test {

/// The devices of this machine, found once.
const Registry& devices();

/// Chains behind rows of logits that no graph computed, on the first device of a list. Sequence i has chain i.
class SampledGraph {
public:
    SampledGraph(const std::string& device_list, int64_t n_vocab, int64_t n_rows,
                 const std::vector<std::shared_ptr<SamplerChain>>& chains);
    ~SampledGraph();

    GraphChain& chain(size_t i) { return *chains_[i]; }
    /// Runs the graph once. logits: [n_rows × n_vocab]; rows: which row each chain works on, 0: none.
    void run(const std::vector<float>& logits, const std::vector<int32_t>& rows);
    /// The same rows of logits again.
    void run_again(const std::vector<int32_t>& rows);
    const Graph& graph() const { return graph_; }
    Scheduler& scheduler() { return *scheduler_; }

private:
    std::vector<std::unique_ptr<Backend>> backends_;
    std::unique_ptr<Scheduler> scheduler_;
    TensorStore store_;
    std::vector<std::unique_ptr<Buffer>> buffers_;
    std::vector<std::unique_ptr<GraphChain>> chains_;
    Tensor* logits_ = nullptr;
    Graph graph_;
};

/// One chain as it is written for --sampler, with "greedy" put behind it for the parser's sake if it does not choose.
std::shared_ptr<SamplerChain> chain_from(const std::string& text, uint32_t seed = 1, const SamplingParams& params = {});

} // namespace schedscope::test
