#include "runtime/error.h"
#include "runtime/sampling/graph_nodes.h"
#include "runtime/sampling/samplers.h"
#include "runtime/tensor/ops.h"

#include <cmath>

namespace schedscope {

namespace {

class Greedy final : public Sampler, public GraphSampler {
public:
    Greedy() = default;
    Greedy(const Greedy&) = default;

    std::string_view name() const noexcept override { return "greedy"; }
    void apply(Candidates& c) override {
        if (c.items.empty()) {
            throw Error(ErrorKind::device, "sampling: no candidates are left");
        }
        const Candidate* best = &c.items.front();
        for (const Candidate& i : c.items) {
            if (i.logit > best->logit || (i.logit == best->logit && i.id < best->id)) {
                best = &i;
            }
        }
        if (std::isinf(best->logit) && best->logit < 0) {
            throw Error(ErrorKind::device, "sampling: no token has a finite logit");
        }
        c.chosen = best->id;
    }
    GraphSampler* in_graph() noexcept override { return this; }
    void add_nodes(Graph& g, GraphCandidates& c) const override { graph_nodes::choose(g, c, ops::argmax(g, c.logits), c.logits); }
    std::unique_ptr<Sampler> clone() const override { return std::make_unique<Greedy>(*this); }
};

} // namespace

std::unique_ptr<Sampler> make_greedy() { return std::make_unique<Greedy>(); }

} // namespace schedscope
