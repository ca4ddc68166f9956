#include "runtime/sampling/graph_nodes.h"
#include "runtime/sampling/samplers.h"
#include "runtime/tensor/ops.h"

#include <algorithm>
#include <limits>

namespace schedscope {

namespace {

class TopP final : public Sampler, public GraphSampler {
public:
    explicit TopP(float p) : p_(p) {}
    TopP(const TopP&) = default;

    std::string_view name() const noexcept override { return "top_p"; }
    void apply(Candidates& c) override {
        if (p_ >= 1.0F) {
            return;
        }
        c.softmax();
        double sum = 0;
        size_t n = 0;
        while (n < c.items.size()) {
            // A few tokens usually hold the mass, so sorting a large vocabulary to its end would be wasted.
            if (n == c.n_sorted) {
                c.sort_first(std::max<size_t>(64, 4 * n));
            }
            sum += c.items[n++].p;
            if (sum >= p_) {
                break;
            }
        }
        c.keep_first(n);
    }
    GraphSampler* in_graph() noexcept override { return this; }
    /// Those stay before which less than p has been cumulated.
    void add_nodes(Graph& g, GraphCandidates& c) const override {
        if (p_ >= 1.0F) {
            return;
        }
        graph_nodes::sort(g, c);
        Tensor* p = ops::soft_max(g, c.logits, nullptr, 1.0F, 0.0F);
        Tensor* before = ops::sub(g, ops::cumsum(g, p), p);
        // At 0 the likeliest stays, before which nothing was cumulated.
        const float threshold = std::max(p_, std::numeric_limits<float>::min());
        graph_nodes::keep_masked(g, c, ops::unary(g, ops::scale(g, before, -1.0F, threshold), UnaryOp::STEP));
    }
    std::unique_ptr<Sampler> clone() const override { return std::make_unique<TopP>(*this); }

private:
    float p_;
};

} // namespace

std::unique_ptr<Sampler> make_top_p(float p) { return std::make_unique<TopP>(p); }

} // namespace schedscope
