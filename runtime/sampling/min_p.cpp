#include "runtime/sampling/graph_nodes.h"
#include "runtime/sampling/samplers.h"
#include "runtime/tensor/ops.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace schedscope {

namespace {

class MinP final : public Sampler, public GraphSampler {
public:
    explicit MinP(float p) : p_(p) {}
    MinP(const MinP&) = default;

    std::string_view name() const noexcept override { return "min_p"; }
    void apply(Candidates& c) override {
        if (p_ <= 0 || c.items.empty()) {
            return;
        }
        float max = -std::numeric_limits<float>::infinity();
        for (const Candidate& i : c.items) {
            max = std::max(max, i.logit);
        }
        const float least = max + log_p();
        const auto removed = std::remove_if(c.items.begin(), c.items.end(), [&](const Candidate& i) { return i.logit < least; });
        c.items.erase(removed, c.items.end());
        c.n_sorted = std::min(c.n_sorted, c.items.size());
    }
    GraphSampler* in_graph() noexcept override { return this; }
    void add_nodes(Graph& g, GraphCandidates& c) const override {
        if (p_ <= 0) {
            return;
        }
        Tensor* max = graph_nodes::pick(g, c.logits, ops::argmax(g, c.logits));
        Tensor* least = ops::scale(g, max, 1.0F, log_p());
        // Below the least: 1. What is equal to it stays, as on the CPU.
        Tensor* below = ops::unary(g, ops::scale(g, ops::sub(g, c.logits, least), -1.0F), UnaryOp::STEP);
        graph_nodes::keep_masked(g, c, ops::scale(g, below, -1.0F, 1.0F));
    }
    std::unique_ptr<Sampler> clone() const override { return std::make_unique<MinP>(*this); }

private:
    /// p(i) ≥ p × p(likeliest) ⇔ logit(i) ≥ logit(likeliest) + log p, so that no probability need be computed.
    float log_p() const noexcept { return std::log(std::min(p_, 1.0F)); }

    float p_;
};

} // namespace

std::unique_ptr<Sampler> make_min_p(float p) { return std::make_unique<MinP>(p); }

} // namespace schedscope
