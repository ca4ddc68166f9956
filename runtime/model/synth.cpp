#include "runtime/model/synth.h"

#include "runtime/error.h"
#include "runtime/gguf/writer.h"
#include "runtime/model/synth_vocabulary.h"
#include "runtime/model/synth_weights.h"

#include <algorithm>
#include <array>

namespace schedscope {

namespace {

constexpr std::array presets{
    SynthPreset{"tiny", "0.26 million parameters, 4 layers", {512, 512, 64, 4, 192, 4, 2, 0, 0, false}},
    SynthPreset{"tiny-moe", "4 layers of 4 experts, 2 used", {512, 512, 64, 4, 96, 4, 2, 4, 2, false}},
    SynthPreset{"110m", "110 million parameters, 12 layers", {32000, 2048, 768, 12, 2048, 12, 12, 0, 0, true}},
    SynthPreset{"1b", "1.1 billion parameters, 22 layers", {32000, 2048, 2048, 22, 5632, 32, 4, 0, 0, false}},
    SynthPreset{"7b", "6.7 billion parameters, 32 layers", {32000, 4096, 4096, 32, 11008, 32, 32, 0, 0, false}},
    SynthPreset{"70b", "70 billion parameters, 80 layers", {128256, 8192, 8192, 80, 28672, 64, 8, 0, 0, false}},
};

class Llama {
public:
    Llama(const LlamaShape& shape, Type type, uint64_t seed) : s_(shape), seed_(seed), weights_(writer_, type, seed) {
        check();
        keys();
        tensors();
    }
    const gguf::Writer& writer() const noexcept { return writer_; }

private:
    void check() const {
        const auto positive = {s_.n_ctx_train, s_.n_embd, s_.n_layer, s_.n_ff, s_.n_head, s_.n_head_kv};
        const bool sizes = std::all_of(positive.begin(), positive.end(), [](int32_t n) { return n > 0; });
        if (!sizes || s_.n_embd % s_.n_head != 0 || (s_.n_embd / s_.n_head) % 2 != 0 || s_.n_head % s_.n_head_kv != 0 ||
            s_.n_expert < 0 || s_.n_expert_used < 0 || s_.n_expert_used > s_.n_expert ||
            (s_.n_expert > 0) != (s_.n_expert_used > 0)) {
            throw Error(ErrorKind::usage, "synth: the sizes don't fit together");
        }
        if (s_.n_vocab < synth_vocabulary_least) {
            throw Error(ErrorKind::usage,
                        "synth: a vocabulary needs at least " + std::to_string(synth_vocabulary_least) + " tokens");
        }
    }

    void keys() {
        const auto size = [&](const char* key, int32_t v) { writer_.set(std::string("llama.") + key, static_cast<uint32_t>(v)); };
        writer_.set("general.architecture", "llama");
        writer_.set("general.name", "synthetic llama, seed " + std::to_string(seed_));
        size("vocab_size", s_.n_vocab);
        size("context_length", s_.n_ctx_train);
        size("embedding_length", s_.n_embd);
        size("block_count", s_.n_layer);
        size("feed_forward_length", s_.n_ff);
        size("attention.head_count", s_.n_head);
        size("attention.head_count_kv", s_.n_head_kv);
        size("rope.dimension_count", s_.n_embd / s_.n_head);
        if (s_.n_expert > 0) {
            size("expert_count", s_.n_expert);
            size("expert_used_count", s_.n_expert_used);
        }
        writer_.set("llama.attention.layer_norm_rms_epsilon", 1e-5F);
        add_synth_vocabulary(writer_, s_.n_vocab);
    }

    void tensors() {
        const int64_t width = s_.n_embd;
        const int64_t kv = int64_t{s_.n_embd} / s_.n_head * s_.n_head_kv;
        matrix("token_embd.weight", {width, s_.n_vocab, 1, 1});
        norm("output_norm.weight");
        if (!s_.tied) {
            matrix("output.weight", {width, s_.n_vocab, 1, 1});
        }
        for (int32_t il = 0; il < s_.n_layer; ++il) {
            const std::string blk = "blk." + std::to_string(il) + ".";
            norm(blk + "attn_norm.weight");
            matrix(blk + "attn_q.weight", {width, width, 1, 1});
            matrix(blk + "attn_k.weight", {width, kv, 1, 1});
            matrix(blk + "attn_v.weight", {width, kv, 1, 1});
            matrix(blk + "attn_output.weight", {width, width, 1, 1});
            norm(blk + "ffn_norm.weight");
            if (s_.n_expert > 0) {
                weights_.random(blk + "ffn_gate_inp.weight", Type::F32, {width, s_.n_expert, 1, 1});
                matrix(blk + "ffn_gate_exps.weight", {width, s_.n_ff, s_.n_expert, 1});
                matrix(blk + "ffn_down_exps.weight", {s_.n_ff, width, s_.n_expert, 1});
                matrix(blk + "ffn_up_exps.weight", {width, s_.n_ff, s_.n_expert, 1});
            } else {
                matrix(blk + "ffn_gate.weight", {width, s_.n_ff, 1, 1});
                matrix(blk + "ffn_down.weight", {s_.n_ff, width, 1, 1});
                matrix(blk + "ffn_up.weight", {width, s_.n_ff, 1, 1});
            }
        }
    }

    void norm(const std::string& name) { weights_.ones(name, s_.n_embd); }
    void matrix(const std::string& name, const Shape& ne) { weights_.matrix(name, ne); }

    LlamaShape s_;
    uint64_t seed_;
    gguf::Writer writer_;
    SynthWeights weights_;
};

} // namespace

std::span<const SynthPreset> synth_presets() noexcept { return presets; }

const LlamaShape& synth_preset(std::string_view name) {
    std::string names;
    for (const SynthPreset& p : presets) {
        if (p.name == name) {
            return p.shape;
        }
        names += (names.empty() ? "" : ", ") + std::string(p.name);
    }
    throw Error(ErrorKind::usage, "synth: there is no preset '" + std::string(name) + "' (" + names + ")");
}

void synthesise_llama(const LlamaShape& shape, Type type, uint64_t seed, const std::string& path) {
    Llama(shape, type, seed).writer().write(path);
}

void synthesise_llama_header(const LlamaShape& shape, Type type, const std::string& path) {
    Llama(shape, type, 0).writer().write_header(path);
}

gguf::File synthesise_llama_in_memory(const LlamaShape& shape, Type type, uint64_t seed, std::string name) {
    return gguf::File::from_bytes(Llama(shape, type, seed).writer().to_bytes(), std::move(name));
}

} // namespace schedscope
