#include "tests/runtime/sampling/graph/sampled_graph.h"

#include "runtime/backend/device.h"
#include "runtime/tensor/ops.h"

namespace schedscope::test {

const Registry& devices() { return Registry::kept(); }

SampledGraph::SampledGraph(const std::string& device_list, int64_t n_vocab, int64_t n_rows,
                           const std::vector<std::shared_ptr<SamplerChain>>& chains) {
    const std::vector<Device*> used = devices().select(device_list);
    for (Device* device : used) {
        BackendOptions o;
        o.n_threads = 1;
        o.name = device->name();
        backends_.push_back(device->make_backend(o));
    }
    scheduler_ = std::make_unique<Scheduler>(backends_, SchedulerOptions{});
    logits_ = store_.make(Type::F32, {n_vocab, n_rows, 1, 1}, "logits");
    Tensor* const tensors[] = {logits_};
    buffers_ = give_buffers(used.front()->buffer_type(), tensors, BufferUsage::any, LoadMode::data);
    Tensor* rows = ops::dup(graph_, logits_);
    rows->pinned = 0;
    for (size_t i = 0; i < chains.size(); ++i) {
        chains_.push_back(std::make_unique<GraphChain>(static_cast<int32_t>(i), chains[i],
                                                       OutputPlace{used.front(), LoadMode::data, n_vocab, 0, "a test"}));
        chains_.back()->add_nodes(graph_, rows);
    }
    graph_.expand(rows);
    scheduler_->plan(graph_);
}

SampledGraph::~SampledGraph() { scheduler_->reset(); }

void SampledGraph::run(const std::vector<float>& logits, const std::vector<int32_t>& rows) {
    tensor_write(*logits_, logits.data(), 0, logits.size() * sizeof(float));
    run_again(rows);
}

void SampledGraph::run_again(const std::vector<int32_t>& rows) {
    for (size_t i = 0; i < chains_.size(); ++i) {
        chains_[i]->write_inputs(rows[i]);
    }
    scheduler_->compute();
}

std::shared_ptr<SamplerChain> chain_from(const std::string& text, uint32_t seed, const SamplingParams& params) {
    return std::make_shared<SamplerChain>(parse_chain(text, params, seed));
}

} // namespace schedscope::test
