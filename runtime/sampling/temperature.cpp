#include "runtime/sampling/graph_nodes.h"
#include "runtime/sampling/samplers.h"
#include "runtime/tensor/ops.h"

namespace schedscope {

namespace {

class Temperature final : public Sampler, public GraphSampler {
public:
    explicit Temperature(float t) : t_(t) {}
    Temperature(const Temperature&) = default;

    std::string_view name() const noexcept override { return "temp"; }
    void apply(Candidates& c) override {
        if (t_ <= 0) {
            c.keep_first(1);
            return;
        }
        for (Candidate& i : c.items) {
            i.logit *= 1.0F / t_;
        }
    }
    GraphSampler* in_graph() noexcept override { return this; }
    void add_nodes(Graph& g, GraphCandidates& c) const override {
        if (t_ <= 0) {
            graph_nodes::keep_places(g, c, ops::argmax(g, c.logits));
            c.sorted = true;
        } else if (t_ != 1.0F) {
            c.logits = ops::scale(g, c.logits, 1.0F / t_);
        }
    }
    std::unique_ptr<Sampler> clone() const override { return std::make_unique<Temperature>(*this); }

private:
    float t_;
};

} // namespace

std::unique_ptr<Sampler> make_temperature(float t) { return std::make_unique<Temperature>(t); }

} // namespace schedscope
