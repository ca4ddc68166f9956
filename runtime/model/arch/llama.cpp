#include "runtime/error.h"
#include "runtime/gguf/gguf.h"
#include "runtime/model/architecture.h"
#include "runtime/model/blocks.h"
#include "runtime/model/weight_loader.h"

#include <string>

/// LLaMA and its many relatives (Mistral, Vicuna, Yi), and with experts Mixtral: RMS norms, rope on adjacent pairs, SwiGLU.
namespace schedscope {

namespace {

void hparams(Hparams& h, const gguf::File& file) {
    h.rope.mode = 0;
    if (h.rope.scaling == RopeScaling::longrope) {
        refuse_key(file, "llama.rope.scaling.type", "longrope is not used by this architecture");
    }
}

void feed_forward_weights(LayerWeights& l, WeightLoader& load, const Hparams& h, const std::string& blk, int32_t il) {
    const int64_t width = h.n_embd;
    if (h.n_expert == 0) {
        l.ffn_gate = load.linear(blk + "ffn_gate", {width, h.n_ff, 1, 1}, il);
        l.ffn_down = load.linear(blk + "ffn_down", {h.n_ff, width, 1, 1}, il);
        l.ffn_up = load.linear(blk + "ffn_up", {width, h.n_ff, 1, 1}, il);
        return;
    }
    l.ffn_router = load.need(blk + "ffn_gate_inp.weight", {width, h.n_expert, 1, 1}, il);
    l.ffn_gate_experts = load.need(blk + "ffn_gate_exps.weight", {width, h.n_ff_expert, h.n_expert, 1}, il);
    l.ffn_down_experts = load.need(blk + "ffn_down_exps.weight", {h.n_ff_expert, width, h.n_expert, 1}, il);
    l.ffn_up_experts = load.need(blk + "ffn_up_exps.weight", {width, h.n_ff_expert, h.n_expert, 1}, il);
}

void weights(Weights& w, WeightLoader& load, const Hparams& h) {
    const int64_t width = h.n_embd;
    const Shape embedding{width, h.n_vocab, 1, 1};
    w.token_embedding = load.need("token_embd.weight", embedding, WeightLoader::input_layer);
    w.output_norm = load.linear("output_norm", {width, 1, 1, 1}, h.n_layer);
    w.output = load.maybe_linear("output", embedding, h.n_layer);
    if (w.output.weight == nullptr) {
        w.output.weight = load.need("token_embd.weight", embedding, h.n_layer);
    }
    for (int32_t il = 0; il < h.n_layer; ++il) {
        LayerWeights& l = w.layers[static_cast<size_t>(il)];
        const std::string blk = "blk." + std::to_string(il) + ".";
        l.attn_norm = load.linear(blk + "attn_norm", {width, 1, 1, 1}, il);
        l.attn_q = load.linear(blk + "attn_q", {width, h.n_embd_q(), 1, 1}, il);
        l.attn_k = load.linear(blk + "attn_k", {width, h.n_embd_k(), 1, 1}, il);
        l.attn_v = load.linear(blk + "attn_v", {width, h.n_embd_v(), 1, 1}, il);
        l.attn_output = load.linear(blk + "attn_output", {int64_t{h.head_length_v} * h.n_head, width, 1, 1}, il);
        l.rope_factors = load.maybe("rope_freqs.weight", {h.rope.n_dims / 2, 1, 1, 1}, il);
        l.ffn_norm = load.linear(blk + "ffn_norm", {width, 1, 1, 1}, il);
        feed_forward_weights(l, load, h, blk, il);
    }
}

void graph(GraphBuilder& b) {
    Tensor* x = blocks::input_embedding(b);
    blocks::attention_inputs(b);
    for (int32_t il = 0; il < b.h.n_layer; ++il) {
        const LayerWeights& l = b.layer(il);
        Tensor* residual = x;
        x = b.name(blocks::norm(b, x, l.attn_norm, blocks::Norm::rms, il), "attn_norm", il);
        blocks::Qkv qkv = blocks::project_qkv(b, x, il);
        blocks::rotate(b, qkv, l.rope_factors, il);
        x = blocks::attention(b, qkv, l.attn_output, il);
        x = blocks::only_outputs(b, x, il);
        residual = blocks::only_outputs(b, residual, il);
        Tensor* ffn_input = b.name(ops::add(b.g, x, residual), "ffn_inp", il);

        x = b.name(blocks::norm(b, ffn_input, l.ffn_norm, blocks::Norm::rms, il), "ffn_norm", il);
        x = l.ffn_router == nullptr ? b.name(blocks::feed_forward(b, x, blocks::Activation::silu, il), "ffn_out", il)
                                    : b.name(blocks::experts(b, x, true, il), "ffn_moe_out", il);
        x = b.name(ops::add(b.g, x, ffn_input), "l_out", il);
    }
    blocks::output(b, x, blocks::Norm::rms);
}

} // namespace

extern const Architecture llama_architecture;
const Architecture llama_architecture{"llama", hparams, weights, graph};

} // namespace schedscope
