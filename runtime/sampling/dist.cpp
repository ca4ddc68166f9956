#include "runtime/backend/buffer.h"
#include "runtime/sampling/graph_nodes.h"
#include "runtime/sampling/samplers.h"
#include "runtime/sampling/uniform.h"
#include "runtime/tensor/ops.h"

namespace schedscope {

namespace {

class Dist final : public Sampler, public GraphSampler {
public:
    explicit Dist(uint32_t seed) : random_(seed) {}
    Dist(const Dist&) = default;

    std::string_view name() const noexcept override { return "dist"; }
    void apply(Candidates& c) override {
        c.softmax();
        c.choose(random_.next());
    }

    GraphSampler* in_graph() noexcept override { return this; }
    void make_inputs(TensorStore& store, int64_t) override { uniform_ = store.make(Type::F32, {1, 1, 1, 1}, "uniform"); }
    /// The first candidate whose cumulated probability is above the uniform number. Those without any probability stand at 0, so
    /// that a sum that was rounded upwards among them chooses none; the number is taken of the largest sum, which is then always
    /// above it.
    void add_nodes(Graph& g, GraphCandidates& c) const override {
        Tensor* p = ops::soft_max(g, c.logits, nullptr, 1.0F, 0.0F);
        Tensor* sums = ops::mul(g, ops::cumsum(g, p), ops::unary(g, p, UnaryOp::STEP));
        Tensor* all = graph_nodes::pick(g, sums, ops::argmax(g, sums));
        Tensor* above = ops::unary(g, ops::sub(g, sums, ops::mul(g, all, uniform_)), UnaryOp::STEP);
        graph_nodes::choose(g, c, ops::argmax(g, above), ops::log(g, p));
    }
    void write_inputs(bool draws) override {
        const float u = draws ? random_.next() : 0.0F;
        tensor_write(*uniform_, &u, 0, sizeof u);
    }
    void reset() override { random_.reset(); }
    std::unique_ptr<Sampler> clone() const override { return std::make_unique<Dist>(*this); }

private:
    Uniform random_;
    Tensor* uniform_ = nullptr; ///< F32 [1]
};

} // namespace

std::unique_ptr<Sampler> make_dist(uint32_t seed) { return std::make_unique<Dist>(seed); }

} // namespace schedscope
