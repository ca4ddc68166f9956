#include "runtime/backend/buffer.h"
#include "runtime/numbers.h"
#include "runtime/sampling/graph_nodes.h"
#include "runtime/sampling/samplers.h"
#include "runtime/tensor/ops.h"

#include <algorithm>
#include <limits>
#include <map>
#include <vector>

namespace schedscope {

namespace {

class LogitBias final : public Sampler, public GraphSampler {
public:
    explicit LogitBias(std::span<const std::pair<int32_t, float>> biases) {
        for (const auto& [id, bias] : biases) {
            float& sum = biases_[id];
            sum = std::min(sum + bias, std::numeric_limits<float>::max()); // +∞ could not be told from what −∞ forbids
        }
    }
    LogitBias(const LogitBias&) = default;

    std::string_view name() const noexcept override { return "logit_bias"; }
    void apply(Candidates& c) override {
        if (biases_.empty()) {
            return;
        }
        for (Candidate& i : c.items) {
            const auto found = biases_.find(i.id);
            if (found != biases_.end()) {
                i.logit += found->second;
            }
        }
        c.n_sorted = 0;
    }

    GraphSampler* in_graph() noexcept override { return this; }
    void make_inputs(TensorStore& store, int64_t n_vocab) override {
        ids_ = values_ = nullptr;
        const auto n = std::distance(biases_.lower_bound(0), biases_.lower_bound(int_of(n_vocab)));
        if (n > 0) {
            ids_ = store.make(Type::I32, {n, 1, 1, 1}, "logit_bias_tokens");
            values_ = store.make(Type::F32, {1, n, 1, 1}, "logit_bias_values");
        }
    }
    void add_nodes(Graph& g, GraphCandidates& c) const override {
        if (ids_ != nullptr) {
            c.logits = ops::add(g, c.logits, graph_nodes::by_token(g, c, values_, ids_, 0.0F));
            c.sorted = false;
        }
    }
    void write_inputs(bool draws) override {
        if (ids_ == nullptr || draws) { // they never change
            return;
        }
        std::vector<int32_t> ids;
        std::vector<float> values;
        for (auto at = biases_.lower_bound(0); ids.size() < static_cast<size_t>(ids_->ne[0]); ++at) {
            ids.push_back(at->first);
            values.push_back(at->second);
        }
        tensor_write(*ids_, ids.data(), 0, ids.size() * sizeof(int32_t));
        tensor_write(*values_, values.data(), 0, values.size() * sizeof(float));
    }
    std::unique_ptr<Sampler> clone() const override { return std::make_unique<LogitBias>(*this); }

private:
    std::map<int32_t, float> biases_;
    Tensor* ids_ = nullptr;    ///< I32 [n]
    Tensor* values_ = nullptr; ///< F32 [1, n]
};

} // namespace

std::unique_ptr<Sampler> make_logit_bias(std::span<const std::pair<int32_t, float>> biases) {
    return std::make_unique<LogitBias>(biases);
}

} // namespace schedscope
