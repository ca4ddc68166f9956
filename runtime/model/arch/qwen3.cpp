#include "runtime/model/architecture.h"
#include "runtime/model/blocks.h"
#include "runtime/model/layer_weights.h"

/// Qwen 3: rope on halves, and a norm of each head of q and k before it. Heads can be longer than width / heads.
namespace schedscope {

namespace {

void hparams(Hparams& h, const gguf::File& /*file*/) { h.rope.mode = 2; }

void name_weights(Weights& w, WeightLoader& load, const Hparams& h) {
    weights::whole_model(w, load, h, {weights::attention, weights::head_norms, weights::gated_feed_forward});
}

} // namespace

extern const Architecture qwen3_architecture;
const Architecture qwen3_architecture{"qwen3", hparams, name_weights, blocks::pre_norm_model};

} // namespace schedscope
