#include "runtime/model/layer_weights.h"

#include "runtime/model/weight_loader.h"

namespace schedscope::weights {

std::string block(int32_t il) { return "blk." + std::to_string(il) + "."; }

void embedding_and_output(Weights& w, WeightLoader& load, const Hparams& h, bool tied) {
    const Shape embedding{h.n_embd, h.n_vocab, 1, 1};
    w.token_embedding = load.need("token_embd.weight", embedding, {Role::embedding, -1});
    w.output_norm = load.linear("output_norm", {h.n_embd, 1, 1, 1}, {Role::norm, h.n_layer});
    if (!tied) {
        w.output = load.maybe_linear("output", embedding, {Role::output, h.n_layer});
    }
    if (w.output.weight == nullptr) {
        w.output.weight = load.need("token_embd.weight", embedding, {Role::output, h.n_layer});
    }
}

void whole_model(Weights& w, WeightLoader& load, const Hparams& h, std::initializer_list<BlockPart> parts, bool tied) {
    embedding_and_output(w, load, h, tied);
    for (int32_t il = 0; il < h.n_layer; ++il) {
        for (const BlockPart part : parts) {
            part(w.layers[il], load, h, il);
        }
    }
}

void attention(LayerWeights& l, WeightLoader& load, const Hparams& h, int32_t il) {
    const int64_t width = h.n_embd;
    const std::string blk = block(il);
    l.attn_norm = load.linear(blk + "attn_norm", {width, 1, 1, 1}, {Role::norm, il});
    l.attn_qkv = load.maybe_linear(blk + "attn_qkv", {width, int64_t{h.n_embd_q()} + h.n_embd_k() + h.n_embd_v(), 1, 1},
                                   {Role::attention, il});
    if (l.attn_qkv.weight == nullptr) {
        l.attn_q = load.linear(blk + "attn_q", {width, h.n_embd_q(), 1, 1}, {Role::attention, il});
        l.attn_k = load.linear(blk + "attn_k", {width, h.n_embd_k(), 1, 1}, {Role::attention, il});
        l.attn_v = load.linear(blk + "attn_v", {width, h.n_embd_v(), 1, 1}, {Role::attention, il});
    }
    l.attn_output = load.linear(blk + "attn_output", {int64_t{h.head_length_v} * h.n_head, width, 1, 1}, {Role::attention, il});
}

void head_norms(LayerWeights& l, WeightLoader& load, const Hparams& h, int32_t il) {
    l.attn_q_norm = load.linear(block(il) + "attn_q_norm", {h.head_length_k, 1, 1, 1}, {Role::norm, il});
    l.attn_k_norm = load.linear(block(il) + "attn_k_norm", {h.head_length_k, 1, 1, 1}, {Role::norm, il});
}

void gated_feed_forward(LayerWeights& l, WeightLoader& load, const Hparams& h, int32_t il) {
    const int64_t width = h.n_embd;
    const std::string blk = block(il);
    l.ffn_norm = load.linear(blk + "ffn_norm", {width, 1, 1, 1}, {Role::norm, il});
    l.ffn_gate = load.linear(blk + "ffn_gate", {width, h.n_ff, 1, 1}, {Role::feed_forward, il});
    l.ffn_down = load.linear(blk + "ffn_down", {h.n_ff, width, 1, 1}, {Role::feed_forward, il});
    l.ffn_up = load.linear(blk + "ffn_up", {width, h.n_ff, 1, 1}, {Role::feed_forward, il});
}

void experts(LayerWeights& l, WeightLoader& load, const Hparams& h, int32_t il) {
    const int64_t width = h.n_embd;
    const std::string blk = block(il);
    l.ffn_norm = load.linear(blk + "ffn_norm", {width, 1, 1, 1}, {Role::norm, il});
    l.ffn_router = load.need(blk + "ffn_gate_inp.weight", {width, h.n_expert, 1, 1}, {Role::router, il});
    l.ffn_gate_experts = load.need(blk + "ffn_gate_exps.weight", {width, h.n_ff_expert, h.n_expert, 1}, {Role::experts, il});
    l.ffn_down_experts = load.need(blk + "ffn_down_exps.weight", {h.n_ff_expert, width, h.n_expert, 1}, {Role::experts, il});
    l.ffn_up_experts = load.need(blk + "ffn_up_exps.weight", {width, h.n_ff_expert, h.n_expert, 1}, {Role::experts, il});
}

void post_norms(LayerWeights& l, WeightLoader& load, const Hparams& h, int32_t il) {
    l.attn_post_norm = load.linear(block(il) + "post_attention_norm", {h.n_embd, 1, 1, 1}, {Role::norm, il});
    l.ffn_post_norm = load.linear(block(il) + "post_ffw_norm", {h.n_embd, 1, 1, 1}, {Role::norm, il});
}

} // namespace schedscope::weights
