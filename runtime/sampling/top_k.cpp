#include "runtime/sampling/graph_nodes.h"
#include "runtime/sampling/samplers.h"
#include "runtime/tensor/ops.h"

namespace schedscope {

namespace {

class TopK final : public Sampler, public GraphSampler {
public:
    explicit TopK(int32_t k) : k_(k) {}
    TopK(const TopK&) = default;

    std::string_view name() const noexcept override { return "top_k"; }
    void apply(Candidates& c) override {
        if (k_ > 0) {
            c.keep_first(k_);
        }
    }
    GraphSampler* in_graph() noexcept override { return this; }
    void add_nodes(Graph& g, GraphCandidates& c) const override {
        if (k_ > 0 && k_ < c.logits->ne[0]) {
            graph_nodes::keep_places(g, c, ops::top_k(g, c.logits, k_));
            c.sorted = true;
        }
    }
    std::unique_ptr<Sampler> clone() const override { return std::make_unique<TopK>(*this); }

private:
    int32_t k_;
};

} // namespace

std::unique_ptr<Sampler> make_top_k(int32_t k) { return std::make_unique<TopK>(k); }

} // namespace schedscope
