#include "runtime/numbers.h"
#include "runtime/vision/encoder_graph_builder.h"
#include "runtime/vision/projector.h"

#include <array>
#include <string>

/// MobileVLM's lightweight downsample projector: two linear layers, then two inverted bottlenecks of MobileNet's kind over the
/// grid of patches, the second one with stride 2: a quarter of the rows come out.
namespace schedscope::vision {

namespace {

/// A depthwise convolution, a gate for each channel (squeeze and excitation), and a mixing of channels.
struct Bottleneck {
    Tensor* depthwise = nullptr; ///< [3, 3, channels]
    Linear depthwise_norm;       ///< [channels]
    Linear squeeze;              ///< [channels, fewer]
    Linear excite;               ///< [fewer, channels]
    Tensor* mix = nullptr;       ///< [channels, channels]
    Linear mix_norm;             ///< [channels]
};

struct Ldp final : ProjectorWeights {
    Linear first, second; ///< [n_in, channels], [channels, channels]
    std::array<Bottleneck, 2> blocks;
};

Bottleneck name_block(WeightNames& load, int number, int64_t c) {
    const std::string at = "mm.model.mb_block." + std::to_string(number) + ".block.";
    const int64_t fewer = load.size(at + "1.fc1.bias", 0);
    // Convolutions of 1 × 1 are products; files have them with and without their dimensions of 1.
    const auto pointwise = [&](const std::string& name, int64_t in, int64_t out) {
        return Linear{load.need(name + ".weight", {{in, out, 1, 1}, {1, 1, in, out}}),
                      load.need(name + ".bias", {out, 1, 1, 1}, Op::ADD)};
    };
    Bottleneck b;
    b.depthwise = load.need(at + "0.0.weight", {{3, 3, c, 1}, {3, 3, 1, c}});
    b.depthwise_norm = load.linear(at + "0.1", {c, 1, 1, 1});
    b.squeeze = pointwise(at + "1.fc1", c, fewer);
    b.excite = pointwise(at + "1.fc2", fewer, c);
    b.mix = load.need(at + "2.0.weight", {{c, c, 1, 1}, {1, 1, c, c}});
    b.mix_norm = load.linear(at + "2.1", {c, 1, 1, 1});
    return b;
}

std::unique_ptr<ProjectorWeights> name_weights(WeightNames& load, const EncoderHparams& /*h*/, int64_t n_in) {
    auto w = std::make_unique<Ldp>();
    const int64_t c = load.size("mm.model.mlp.1.weight", 1);
    w->first = load.linear("mm.model.mlp.1", {n_in, c, 1, 1});
    w->second = load.linear("mm.model.mlp.3", {c, c, 1, 1});
    w->blocks = {name_block(load, 1, c), name_block(load, 2, c)};
    w->n_embd_text = int_of(c);
    return w;
}

/// A kernel of 1 × 1 as a matrix.
Tensor* as_matrix(EncoderGraphBuilder& b, Tensor* w) {
    return w->ne[2] == 1 && w->ne[3] == 1 ? w : ops::reshape(b.g, w, {w->ne[2], w->ne[3], 1, 1});
}

/// [channels, width, height] → [width, height, channels]
Tensor* channels_last(EncoderGraphBuilder& b, Tensor* x) { return ops::cont(b.g, ops::permute(b.g, x, 2, 0, 1, 3)); }

/// x [width, height, channels] → [channels, new width, new height]
Tensor* bottleneck(EncoderGraphBuilder& b, const Bottleneck& w, Tensor* x, int stride) {
    Graph& g = b.g;
    x = ops::conv_2d_dw(g, w.depthwise, x, stride, stride, 1, 1, 1, 1);
    x = b.norm(w.depthwise_norm, b.channels_first(x));
    x = ops::unary(g, channels_last(b, x), UnaryOp::HARDSWISH);
    const auto width = int_of(x->ne[0]), height = int_of(x->ne[1]);
    const int64_t c = x->ne[2];
    Tensor* gate = ops::pool_2d(g, x, Pool::avg, width, height, width, height, 0, 0);
    gate = ops::reshape(g, gate, {c, 1, 1, 1});
    gate = ops::unary(g, b.linear({as_matrix(b, w.squeeze.weight), w.squeeze.bias}, gate), UnaryOp::RELU);
    gate = ops::unary(g, b.linear({as_matrix(b, w.excite.weight), w.excite.bias}, gate), UnaryOp::HARDSIGMOID);
    x = ops::mul(g, x, ops::reshape(g, gate, {1, 1, c, 1}));
    x = ops::reshape(g, x, {int64_t{width} * height, c, 1, 1});
    x = ops::cont(g, ops::transpose(g, x));
    x = ops::mul_mat(g, as_matrix(b, w.mix), x);
    return b.norm(w.mix_norm, ops::reshape(g, x, {c, width, height, 1}));
}

Tensor* graph(EncoderGraphBuilder& b, const ProjectorWeights& weights, Tensor* x) {
    const auto& w = static_cast<const Ldp&>(weights);
    Graph& g = b.g;
    x = b.linear(w.second, ops::unary(g, b.linear(w.first, x), UnaryOp::GELU));
    const int64_t c = x->ne[0];
    x = b.as_picture(x);
    x = ops::add(g, x, channels_last(b, bottleneck(b, w.blocks[0], x, 1)));
    x = bottleneck(b, w.blocks[1], x, 2);
    return ops::reshape(g, x, {c, x->ne[1] * x->ne[2], 1, 1});
}

/// Every second place of each direction, the first included.
int32_t n_rows(const ProjectorWeights& /*weights*/, Size patches) {
    return ((patches.width + 1) / 2) * ((patches.height + 1) / 2);
}

} // namespace

extern const Projector ldp_projector;
const Projector ldp_projector{"ldp", name_weights, graph, n_rows};

} // namespace schedscope::vision
