#include "runtime/numbers.h"
#include "runtime/vision/encoder_graph_builder.h"
#include "runtime/vision/projector.h"

/// MobileVLM V2's projector: two linear layers, the mean of each 2 × 2 patches, and a depthwise convolution over the grid that
/// tells where a row is (a positional encoding generator), added to what it reads.
namespace schedscope::vision {

namespace {

struct Ldpv2 final : ProjectorWeights {
    Linear first, second; ///< [n_in, channels], [channels, channels]
    Linear positions;     ///< [3, 3, channels], [channels]
};

std::unique_ptr<ProjectorWeights> name_weights(WeightNames& load, const EncoderHparams& /*h*/, int64_t n_in) {
    auto w = std::make_unique<Ldpv2>();
    const int64_t c = load.size("mm.model.mlp.0.weight", 1);
    w->first = load.linear("mm.model.mlp.0", {n_in, c, 1, 1});
    w->second = load.linear("mm.model.mlp.2", {c, c, 1, 1});
    w->positions = {load.need("mm.model.peg.0.weight", {{3, 3, c, 1}, {3, 3, 1, c}}),
                    load.need("mm.model.peg.0.bias", {c, 1, 1, 1}, Op::ADD)};
    w->n_embd_text = int_of(c);
    return w;
}

Tensor* graph(EncoderGraphBuilder& b, const ProjectorWeights& weights, Tensor* x) {
    const auto& w = static_cast<const Ldpv2&>(weights);
    Graph& g = b.g;
    x = b.linear(w.second, ops::unary(g, b.linear(w.first, x), UnaryOp::GELU));
    const int64_t c = x->ne[0];
    x = b.as_picture(x);
    x = ops::pool_2d(g, x, Pool::avg, 2, 2, 2, 2, 0, 0);
    Tensor* where = b.channels_first(ops::conv_2d_dw(g, w.positions.weight, x, 1, 1, 1, 1, 1, 1));
    where = ops::add(g, where, w.positions.bias);
    x = ops::add(g, where, b.channels_first(x));
    return ops::reshape(g, x, {c, x->ne[1] * x->ne[2], 1, 1});
}

int32_t n_rows(const ProjectorWeights& /*weights*/, Size patches) { return (patches.width / 2) * (patches.height / 2); }

} // namespace

extern const Projector ldpv2_projector;
const Projector ldpv2_projector{"ldpv2", name_weights, graph, n_rows};

} // namespace schedscope::vision
