#pragma once

#include "runtime/model/weights.h"
#include "runtime/tensor/ops.h"
#include "runtime/vision/encoder_hparams.h"

#include <string_view>

namespace schedscope::vision {

class VisionModel;

/// What must be filled before each evaluation, and what comes out. Null where the graph has none.
struct EncoderTensors {
    Tensor* pixels = nullptr;         ///< F32 [width, height, 3]
    Tensor* positions = nullptr;      ///< I32 [patches, and one for the class]: rows of the position embedding
    Tensor* patches = nullptr;        ///< I32 [patches]: which rows of the encoder's are of patches
    Tensor* position_waves = nullptr; ///< F32 [n_embd_text, patches]: sines and cosines of where the patches are (resampler)
    Tensor* result = nullptr;         ///< F32 [n_embd_text, rows]
};

/// The state of building one graph, and the parts that encoder and projectors are made of. Nodes are made in llama.cpp's order
/// and have its names. ne is written [ne0, ne1, …].
class EncoderGraphBuilder {
public:
    EncoderGraphBuilder(Graph& graph, const VisionModel& model, Size patches);

    Graph& g;
    const VisionModel& model;
    const EncoderHparams& h;
    const Size patches; ///< of the view: how many across and down
    EncoderTensors io;

    int64_t n_patches() const noexcept { return int64_t{patches.width} * patches.height; }

    /// Calls a tensor "WHAT-BLOCK", or WHAT without a block.
    static Tensor* name(Tensor* t, std::string_view what, int32_t il = -1);
    /// weight · x + bias.
    Tensor* linear(const Linear& weight, Tensor* x);
    /// weight × (x − mean) / deviation + bias, over ne0.
    Tensor* norm(const Linear& weight, Tensor* x, int32_t il = -1);
    /// [channels, patches] → [across, down, channels]
    Tensor* as_picture(Tensor* x) { return ops::cont(g, ops::transpose(g, x), {patches.width, patches.height, x->ne[0], 1}); }
    /// [across, down, channels] → [channels, across, down]
    Tensor* channels_first(Tensor* x) { return ops::cont(g, ops::permute(g, x, 1, 2, 0, 3)); }
    /// Softmax(q · k / √head) · v and the projection behind it. q [head, heads, n], k and v [head, heads, m] → [head × heads, n].
    Tensor* attention(Tensor* q, Tensor* k, Tensor* v, const Linear& out, int32_t il = -1);

    /// Builds all of it, up to io.result.
    void build();

private:
    Tensor* patch_embedding();
    Tensor* with_positions(Tensor* x);
    Tensor* block(Tensor* x, int32_t il);
    Tensor* features(Tensor* x);
};

} // namespace schedscope::vision
