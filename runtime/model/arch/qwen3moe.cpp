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
    weights::whole_model(w, load, h, {weights::attention, weights::head_norms, weights::experts});
}

} // namespace

extern const Architecture qwen3moe_architecture;
const Architecture qwen3moe_architecture{"qwen3moe", hparams, name_weights, blocks::pre_norm_model};

} // namespace schedscope
