#include "runtime/gguf/gguf.h"
#include "runtime/model/architecture.h"
#include "runtime/model/blocks.h"
#include "runtime/model/layer_weights.h"
#include "runtime/model/weight_loader.h"

/// LLaMA and its many relatives (Mistral, Vicuna, Yi), and with experts Mixtral: RMS norms, rope on adjacent pairs, SwiGLU.
namespace schedscope {

namespace {

void hparams(Hparams& h, const gguf::File& file) {
    h.rope.mode = 0;
    if (h.rope.scaling == RopeScaling::longrope) {
        refuse_key(file, "llama.rope.scaling.type", "longrope is not used by this architecture");
    }
}

void rope_factors(LayerWeights& l, WeightLoader& load, const Hparams& h, int32_t il) {
    l.rope_factors = load.maybe("rope_freqs.weight", {h.rope.n_dims / 2, 1, 1, 1}, {Role::attention, il, Op::ROPE});
}

void feed_forward(LayerWeights& l, WeightLoader& load, const Hparams& h, int32_t il) {
    h.n_expert == 0 ? weights::gated_feed_forward(l, load, h, il) : weights::experts(l, load, h, il);
}

void name_weights(Weights& w, WeightLoader& load, const Hparams& h) {
    weights::whole_model(w, load, h, {weights::attention, rope_factors, feed_forward});
}

} // namespace

extern const Architecture llama_architecture;
const Architecture llama_architecture{"llama", hparams, name_weights, blocks::pre_norm_model};

} // namespace schedscope
