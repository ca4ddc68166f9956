#include "runtime/model/architecture.h"
#include "runtime/model/blocks.h"
#include "runtime/model/layer_weights.h"

/// Qwen 2 and 2.5: as LLaMA, with rope on halves and biases on q, k and v.
namespace schedscope {

namespace {

void hparams(Hparams& h, const gguf::File& /*file*/) { h.rope.mode = 2; }

void name_weights(Weights& w, WeightLoader& load, const Hparams& h) {
    weights::whole_model(w, load, h, {weights::attention, weights::gated_feed_forward});
}

} // namespace

extern const Architecture qwen2_architecture;
const Architecture qwen2_architecture{"qwen2", hparams, name_weights, blocks::pre_norm_model};

} // namespace schedscope
