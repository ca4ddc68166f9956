#include "runtime/numbers.h"
#include "runtime/vision/encoder_graph_builder.h"
#include "runtime/vision/projector.h"

/// Yi-VL: two linear layers, each with a layer norm behind it, and GELU between them: mm.0, norm mm.1, GELU, mm.3, norm mm.4.
namespace schedscope::vision {

namespace {

struct MlpNorm final : ProjectorWeights {
    Linear first, first_norm;   ///< [n_in, hidden], [hidden]
    Linear second, second_norm; ///< [hidden, n_embd_text], [n_embd_text]
};

std::unique_ptr<ProjectorWeights> name_weights(WeightNames& load, const EncoderHparams& /*h*/, int64_t n_in) {
    auto w = std::make_unique<MlpNorm>();
    const int64_t hidden = load.size("mm.0.weight", 1);
    const int64_t out = load.size("mm.3.weight", 1);
    w->first = load.linear("mm.0", {n_in, hidden, 1, 1});
    w->first_norm = load.linear("mm.1", {hidden, 1, 1, 1});
    w->second = load.linear("mm.3", {hidden, out, 1, 1});
    w->second_norm = load.linear("mm.4", {out, 1, 1, 1});
    w->n_embd_text = int_of(out);
    return w;
}

Tensor* graph(EncoderGraphBuilder& b, const ProjectorWeights& weights, Tensor* x) {
    const auto& w = static_cast<const MlpNorm&>(weights);
    x = b.norm(w.first_norm, b.linear(w.first, x));
    x = ops::unary(b.g, x, UnaryOp::GELU);
    return b.norm(w.second_norm, b.linear(w.second, x));
}

} // namespace

extern const Projector mlp_norm_projector;
const Projector mlp_norm_projector{"mlp_norm", name_weights, graph, one_row_per_patch};

} // namespace schedscope::vision
