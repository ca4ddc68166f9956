#include "runtime/model/synth/synth_model.h"

#include "runtime/error.h"
#include "runtime/model/synth/synth_vocabulary.h"

#include <algorithm>

namespace schedscope {

SynthModel::SynthModel(const SynthShape& shape, Type type, uint64_t seed)
    : s_(shape), seed_(seed), weights_(writer_, type, seed) {
    check();
}

void SynthModel::check() const {
    const auto positive = {s_.n_ctx_train, s_.n_embd, s_.n_layer, s_.n_ff, s_.n_head, s_.n_head_kv};
    const bool sizes = std::all_of(positive.begin(), positive.end(), [](int32_t n) { return n > 0; });
    if (!sizes || s_.head_length < 0 || (s_.head_length == 0 && s_.n_embd % s_.n_head != 0) || head_length() % 2 != 0 ||
        s_.n_head % s_.n_head_kv != 0 || s_.n_expert < 0 || s_.n_expert_used < 0 || s_.n_expert_used > s_.n_expert ||
        s_.n_ff_expert < 0 || (s_.n_expert > 0) != (s_.n_expert_used > 0) || s_.window < 0 || !(s_.rope_factor >= 1) ||
        !(s_.freq_base > 0)) {
        throw Error(ErrorKind::usage, "synth: the sizes don't fit together");
    }
    if (s_.n_vocab < synth_vocabulary_least) {
        throw Error(ErrorKind::usage, "synth: a vocabulary needs at least " + std::to_string(synth_vocabulary_least) + " tokens");
    }
}

void SynthModel::keys(NormKind norm, float epsilon) {
    norm_ = norm;
    const std::string architecture(s_.architecture);
    writer_.set("general.architecture", architecture);
    writer_.set("general.name", "synthetic " + architecture + ", seed " + std::to_string(seed_));
    size("vocab_size", s_.n_vocab);
    size("context_length", s_.n_ctx_train);
    size("embedding_length", s_.n_embd);
    size("block_count", s_.n_layer);
    size("feed_forward_length", s_.n_ff);
    size("attention.head_count", s_.n_head);
    size("attention.head_count_kv", s_.n_head_kv);
    if (s_.head_length > 0) {
        size("attention.key_length", s_.head_length);
        size("attention.value_length", s_.head_length);
    }
    size("rope.dimension_count", head_length());
    if (s_.freq_base != SynthShape{}.freq_base) {
        set("rope.freq_base", s_.freq_base);
    }
    if (s_.window > 0) {
        size("attention.sliding_window", s_.window);
    }
    if (s_.n_expert > 0) {
        size("expert_count", s_.n_expert);
        size("expert_used_count", s_.n_expert_used);
    }
    if (s_.n_ff_expert > 0) {
        size("expert_feed_forward_length", s_.n_ff_expert);
    }
    set(norm == NormKind::rms ? "attention.layer_norm_rms_epsilon" : "attention.layer_norm_epsilon", epsilon);
    add_synth_vocabulary(writer_, s_.n_vocab);
}

void SynthModel::embedding_and_output() {
    matrix("token_embd", s_.n_embd, s_.n_vocab);
    norm("output_norm");
    if (!s_.tied) {
        matrix("output", s_.n_embd, s_.n_vocab);
    }
}

void SynthModel::norm(const std::string& name, int64_t n) {
    weights_.ones(name + ".weight", n);
    if (norm_ == NormKind::layer) {
        bias(name, n);
    }
}

void SynthModel::values(const std::string& name, std::vector<float> values) {
    const int64_t n = values.size();
    writer_.add(name + ".weight", {n, 1, 1, 1}, std::move(values));
}

void SynthModel::attention(const std::string& blk) {
    norm(blk + "attn_norm");
    matrix(blk + "attn_q", s_.n_embd, n_embd_q());
    matrix(blk + "attn_k", s_.n_embd, n_embd_kv());
    matrix(blk + "attn_v", s_.n_embd, n_embd_kv());
    matrix(blk + "attn_output", n_embd_q(), s_.n_embd);
}

void SynthModel::fused_attention(const std::string& blk) {
    norm(blk + "attn_norm");
    matrix(blk + "attn_qkv", s_.n_embd, n_embd_q() + 2 * n_embd_kv());
    matrix(blk + "attn_output", n_embd_q(), s_.n_embd);
}

void SynthModel::head_norms(const std::string& blk) {
    norm(blk + "attn_q_norm", head_length());
    norm(blk + "attn_k_norm", head_length());
}

void SynthModel::gated_feed_forward(const std::string& blk) {
    norm(blk + "ffn_norm");
    matrix(blk + "ffn_gate", s_.n_embd, s_.n_ff);
    matrix(blk + "ffn_down", s_.n_ff, s_.n_embd);
    matrix(blk + "ffn_up", s_.n_embd, s_.n_ff);
}

void SynthModel::experts(const std::string& blk) {
    const int64_t width = s_.n_embd, ff = s_.n_ff_expert > 0 ? s_.n_ff_expert : s_.n_ff;
    norm(blk + "ffn_norm");
    weights_.random(blk + "ffn_gate_inp.weight", Type::F32, {width, s_.n_expert, 1, 1});
    weights_.matrix(blk + "ffn_gate_exps.weight", {width, ff, s_.n_expert, 1});
    weights_.matrix(blk + "ffn_down_exps.weight", {ff, width, s_.n_expert, 1});
    weights_.matrix(blk + "ffn_up_exps.weight", {width, ff, s_.n_expert, 1});
}

void SynthModel::post_norms(const std::string& blk) {
    norm(blk + "post_attention_norm");
    norm(blk + "post_ffw_norm");
}

} // namespace schedscope
