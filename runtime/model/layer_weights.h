#pragma once

#include "runtime/model/hparams.h"
#include "runtime/model/weights.h"

#include <initializer_list>
#include <string>

namespace schedscope {

class WeightLoader;

/// Weights that architectures name alike, in the names that llama.cpp's converters write. Each throws Error(input) as
/// WeightLoader does.
namespace weights {

/// "blk.IL."
std::string block(int32_t il);

/// Embedding, last norm and output. Without a matrix of its own (or when `tied`) the output is the embedding.
void embedding_and_output(Weights& w, WeightLoader& load, const Hparams& h, bool tied = false);

/// Some weights of block IL.
using BlockPart = void (*)(LayerWeights& l, WeightLoader& load, const Hparams& h, int32_t il);
/// Embedding and output, then of each block these parts, in this order.
void whole_model(Weights& w, WeightLoader& load, const Hparams& h, std::initializer_list<BlockPart> parts, bool tied = false);

/// attn_norm; attn_q, attn_k and attn_v, or attn_qkv, which has their rows one behind the other; attn_output.
void attention(LayerWeights& l, WeightLoader& load, const Hparams& h, int32_t il);

/// attn_q_norm and attn_k_norm, one for all heads.
void head_norms(LayerWeights& l, WeightLoader& load, const Hparams& h, int32_t il);

/// ffn_norm, ffn_gate, ffn_down, ffn_up.
void gated_feed_forward(LayerWeights& l, WeightLoader& load, const Hparams& h, int32_t il);

/// ffn_norm, the router and the experts.
void experts(LayerWeights& l, WeightLoader& load, const Hparams& h, int32_t il);

/// post_attention_norm and post_ffw_norm.
void post_norms(LayerWeights& l, WeightLoader& load, const Hparams& h, int32_t il);

} // namespace weights
} // namespace schedscope
