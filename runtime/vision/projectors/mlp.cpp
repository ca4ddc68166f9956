#include "runtime/numbers.h"
#include "runtime/vision/encoder_graph_builder.h"
#include "runtime/vision/projector.h"

/// LLaVA 1.5, BakLLaVA and LLaVA 1.6: two linear layers with GELU between them. The first LLaVA had only one, and no GELU.
namespace schedscope::vision {

namespace {

struct Mlp final : ProjectorWeights {
    Linear first;  ///< [n_in, hidden]
    Linear second; ///< [hidden, n_embd_text]; null: there is one layer
};

std::unique_ptr<ProjectorWeights> name_weights(WeightNames& load, const EncoderHparams& /*h*/, int64_t n_in) {
    auto w = std::make_unique<Mlp>();
    const int64_t hidden = load.size("mm.0.weight", 1);
    w->first = load.linear("mm.0", {n_in, hidden, 1, 1});
    w->n_embd_text = int_of(hidden);
    if (load.has("mm.2.weight")) {
        const int64_t out = load.size("mm.2.weight", 1);
        w->second = load.linear("mm.2", {hidden, out, 1, 1});
        w->n_embd_text = int_of(out);
    }
    return w;
}

Tensor* graph(EncoderGraphBuilder& b, const ProjectorWeights& weights, Tensor* x) {
    const auto& w = static_cast<const Mlp&>(weights);
    x = b.linear(w.first, x);
    return w.second.weight == nullptr ? x : b.linear(w.second, ops::unary(b.g, x, UnaryOp::GELU));
}

} // namespace

extern const Projector mlp_projector;
const Projector mlp_projector{"mlp", name_weights, graph, one_row_per_patch};

} // namespace schedscope::vision
