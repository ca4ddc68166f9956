#include "runtime/numbers.h"
#include "runtime/sampling/graph_nodes.h"
#include "runtime/sampling/samplers.h"
#include "runtime/tensor/ops.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace schedscope {

namespace {

/// Between t − range and t + range, by how far the candidates' entropy is from the greatest that so many could have.
class DynamicTemperature final : public Sampler, public GraphSampler {
public:
    DynamicTemperature(float t, float range, float exponent)
        : min_(std::max(t - range, 0.0F)), max_(t + range), exponent_(exponent) {}
    DynamicTemperature(const DynamicTemperature&) = default;

    std::string_view name() const noexcept override { return "temp_ext"; }
    void apply(Candidates& c) override {
        c.softmax();
        double entropy = 0;
        size_t n = 0;
        for (const Candidate& i : c.items) {
            n += std::isfinite(i.logit) ? 1 : 0;
            entropy -= i.p > 0 ? i.p * std::log(to_double(i.p)) : 0.0;
        }
        const double greatest = std::max(std::log(n), double{tiny});
        const double share = std::max(entropy / greatest, double{tiny});
        const double t = min_ + (max_ - min_) * std::pow(share, double{exponent_}) + tiny;
        for (Candidate& i : c.items) {
            i.logit = to_float(i.logit / t);
        }
    }
    GraphSampler* in_graph() noexcept override { return this; }
    void add_nodes(Graph& g, GraphCandidates& c) const override {
        const auto at_least_tiny = [&](Tensor* x) {
            return ops::scale(g, ops::unary(g, ops::scale(g, x, 1.0F, -tiny), UnaryOp::RELU), 1.0F, tiny);
        };
        Tensor* p = ops::soft_max(g, c.logits, nullptr, 1.0F, 0.0F);
        // p log p where p is 0: the logarithm must stay finite. 1e-30 beside any p that matters is nothing.
        Tensor* p_log_p = ops::mul(g, p, ops::log(g, ops::scale(g, p, 1.0F, 1e-30F)));
        // Forbidden ones stay at −∞ whatever is added; every other logit becomes positive.
        Tensor* n = ops::sum(g, ops::unary(g, ops::scale(g, c.logits, 1.0F, std::numeric_limits<float>::max()), UnaryOp::STEP));
        Tensor* greatest = at_least_tiny(ops::log(g, n));
        Tensor* share = at_least_tiny(ops::div(g, ops::scale(g, ops::sum(g, p_log_p), -1.0F), greatest));
        Tensor* power = ops::unary(g, ops::scale(g, ops::log(g, share), exponent_), UnaryOp::EXP);
        c.logits = ops::div(g, c.logits, ops::scale(g, power, max_ - min_, min_ + tiny));
    }
    std::unique_ptr<Sampler> clone() const override { return std::make_unique<DynamicTemperature>(*this); }

private:
    static constexpr float tiny = 1e-6F; ///< keeps temperature and shares above 0

    float min_, max_, exponent_;
};

} // namespace

std::unique_ptr<Sampler> make_dynamic_temperature(float t, float range, float exponent) {
    return range > 0 ? std::make_unique<DynamicTemperature>(t, range, exponent) : make_temperature(t);
}

} // namespace schedscope
