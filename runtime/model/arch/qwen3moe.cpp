#include "runtime/gguf/gguf.h"
#include "runtime/model/architecture.h"
#include "runtime/model/blocks.h"
#include "runtime/model/layer_weights.h"

/// Qwen 3 with experts in every block.
namespace schedscope {

namespace {

void hparams(Hparams& h, const gguf::File& file) {
    h.rope.mode = 2;
    if (h.n_expert == 0) {
        refuse_key(file, "qwen3moe.expert_count", "is missing");
    }
}

void name_weights(Weights& w, WeightLoader& load, const Hparams& h) {
    weights::embedding_and_output(w, load, h);
    for (int32_t il = 0; il < h.n_layer; ++il) {
        LayerWeights& l = w.layers[static_cast<size_t>(il)];
        weights::attention(l, load, h, il);
        weights::head_norms(l, load, h, il);
        weights::experts(l, load, h, il);
    }
}

} // namespace

extern const Architecture qwen3moe_architecture;
const Architecture qwen3moe_architecture{"qwen3moe", hparams, name_weights, blocks::pre_norm_model};

} // namespace schedscope
