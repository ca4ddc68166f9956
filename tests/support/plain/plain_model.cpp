#include "tests/support/plain/plain_model.h"

#include "runtime/gguf/writer.h"
#include "runtime/model/synth/synth_vocabulary.h"

#include <cmath>
#include <random>

namespace schedscope::test {

namespace {

constexpr int n_vocab = 320;

class Maker {
public:
    Maker(std::string kind, uint32_t seed) : kind_(std::move(kind)), random_(seed) {
        m.architecture = kind_.substr(0, kind_.find('-'));
    }

    PlainModel make() {
        sizes();
        particulars();
        m.numbers["block_count"] = layers_;
        matrix("token_embd", width_, n_vocab);
        norm("output_norm", width_);
        if ((!is("gemma") && !is("gemma2") && !is("gemma3")) || kind_ == "gemma3-output") {
            matrix("output", width_, n_vocab);
        }
        for (int il = 0; il < layers_; ++il) {
            const std::string blk = "blk." + std::to_string(il) + ".";
            attention(blk);
            feed_forward(blk);
        }
        return std::move(m);
    }

private:
    bool is(const char* architecture) const { return m.architecture == architecture; }

    void sizes() {
        m.numbers["vocab_size"] = n_vocab;
        m.numbers["context_length"] = 512;
        m.numbers["embedding_length"] = width_;
        m.numbers["feed_forward_length"] = ff_;
        m.numbers["attention.head_count"] = heads_;
        if (kind_ == "falcon") {
            kv_heads_ = 1;
        }
        m.numbers["attention.head_count_kv"] = kv_heads_;
        m.numbers[is("falcon") ? "attention.layer_norm_epsilon" : "attention.layer_norm_rms_epsilon"] = 1e-5;
    }

    void particulars() {
        if (is("qwen3") || is("qwen3moe") || is("gemma") || is("gemma2") || is("gemma3")) {
            head_ = 16; // longer than width / heads
            m.numbers["attention.key_length"] = m.numbers["attention.value_length"] = head_;
        }
        if (is("qwen2") || is("qwen3") || is("qwen3moe")) {
            m.numbers["rope.freq_base"] = 1000000;
        }
        if (kind_.ends_with("-yarn")) {
            m.texts["rope.scaling.type"] = "yarn";
            m.numbers["rope.scaling.factor"] = 4;
            m.numbers["rope.scaling.original_context_length"] = 64;
        }
        if (kind_.ends_with("-linear")) {
            m.texts["rope.scaling.type"] = "linear";
            m.numbers["rope.scaling.factor"] = 2;
        }
        if (is("qwen3moe") || kind_ == "llama-experts") {
            m.numbers["expert_count"] = 4;
            m.numbers["expert_used_count"] = 2;
            expert_ff_ = is("llama") ? ff_ : 40;
            if (!is("llama")) {
                m.numbers["expert_feed_forward_length"] = expert_ff_;
            }
        }
        if (kind_ == "llama-factors") {
            factors("rope_freqs", head_ / 2);
        }
        if (is("phi3")) {
            m.numbers["rope.dimension_count"] = 8;     // of 12
            m.numbers["attention.sliding_window"] = 4; // not used
            if (kind_ == "phi3-long") {
                m.numbers["rope.scaling.original_context_length"] = 256;
                m.numbers["rope.scaling.attn_factor"] = 1.19;
                m.texts["rope.scaling.type"] = "longrope";
                factors("rope_factors_long", 4);
                factors("rope_factors_short", 4);
            }
        }
        if (is("gemma2")) {
            m.numbers["attention.sliding_window"] = 5;
            m.numbers["attn_logit_softcapping"] = 3; // low enough to matter
            m.numbers["final_logit_softcapping"] = 2;
        }
        if (is("gemma3")) {
            layers_ = 7;
            m.numbers["attention.sliding_window"] = 5;
            m.numbers["rope.freq_base"] = 1000000;
            m.texts["rope.scaling.type"] = "linear";
            m.numbers["rope.scaling.factor"] = 8;
        }
    }

    void attention(const std::string& blk) {
        const int q = heads_ * head_, kv = kv_heads_ * head_;
        norm(blk + "attn_norm", width_);
        if (kind_ == "falcon-40b") {
            norm(blk + "attn_norm_2", width_);
        }
        if (is("falcon") || is("phi3")) {
            matrix(blk + "attn_qkv", width_, q + 2 * kv);
        } else {
            matrix(blk + "attn_q", width_, q);
            matrix(blk + "attn_k", width_, kv);
            matrix(blk + "attn_v", width_, kv);
        }
        if (is("qwen2")) {
            bias(blk + "attn_q", q);
            bias(blk + "attn_k", kv);
            bias(blk + "attn_v", kv);
        }
        if (is("qwen3") || is("qwen3moe") || is("gemma3")) {
            norm(blk + "attn_q_norm", head_);
            norm(blk + "attn_k_norm", head_);
        }
        matrix(blk + "attn_output", q, width_);
    }

    void feed_forward(const std::string& blk) {
        if (is("gemma2") || is("gemma3")) {
            norm(blk + "post_attention_norm", width_);
            norm(blk + "post_ffw_norm", width_);
        }
        if (!is("falcon")) {
            norm(blk + "ffn_norm", width_);
        }
        if (m.numbers.contains("expert_count")) {
            const int n = m.integer("expert_count");
            add(blk + "ffn_gate_inp.weight", {width_, n}, 3);
            add(blk + "ffn_gate_exps.weight", {width_, expert_ff_, n}, 1);
            add(blk + "ffn_up_exps.weight", {width_, expert_ff_, n}, 1);
            add(blk + "ffn_down_exps.weight", {expert_ff_, width_, n}, 1);
            return;
        }
        if (!is("falcon") && !is("phi3")) {
            matrix(blk + "ffn_gate", width_, ff_);
        }
        matrix(blk + "ffn_up", width_, is("phi3") ? 2 * ff_ : ff_);
        matrix(blk + "ffn_down", ff_, width_);
    }

    void matrix(const std::string& name, int inputs, int outputs) { add(name + ".weight", {inputs, outputs}, 1.5); }
    void bias(const std::string& name, int n) { fill(name + ".bias", {n}, 0, 0.5); }
    void norm(const std::string& name, int n) {
        fill(name + ".weight", {n}, 1, 0.3);
        if (is("falcon")) {
            bias(name, n);
        }
    }
    void factors(const std::string& name, int n) { fill(name + ".weight", {n}, 2, 0.9); }

    /// Uniform, so large that what comes out is `gain` times what goes in.
    void add(const std::string& name, const std::vector<int64_t>& ne, double gain) {
        fill(name, ne, 0, gain * std::sqrt(3.0 / static_cast<double>(ne[0])));
    }
    void fill(const std::string& name, const std::vector<int64_t>& ne, double middle, double reach) {
        PlainTensor& t = m.tensors[name];
        t.ne = ne;
        size_t n = 1;
        for (const int64_t e : ne) {
            n *= static_cast<size_t>(e);
        }
        std::uniform_real_distribution<double> around(middle - reach, middle + reach);
        for (size_t i = 0; i < n; ++i) {
            t.v.push_back(static_cast<float>(around(random_)));
        }
    }

    PlainModel m;
    const std::string kind_;
    std::mt19937 random_;
    int layers_ = 3, width_ = 48, ff_ = 80, expert_ff_ = 0, heads_ = 4, kv_heads_ = 2, head_ = 12;
};

} // namespace

PlainModel random_model(const std::string& kind, uint32_t seed) { return Maker(kind, seed).make(); }

std::shared_ptr<gguf::File> PlainModel::file() const {
    gguf::Writer writer;
    writer.set("general.architecture", architecture);
    for (const auto& [key, value] : numbers) {
        const std::string whole = architecture + "." + key;
        const bool real =
            key.ends_with("epsilon") || key.ends_with("freq_base") || key.ends_with("factor") || key.ends_with("softcapping");
        real ? writer.set(whole, static_cast<float>(value)) : writer.set(whole, static_cast<uint32_t>(value));
    }
    for (const auto& [key, value] : texts) {
        writer.set(architecture + "." + key, value);
    }
    add_synth_vocabulary(writer, n_vocab);
    for (const auto& [name, t] : tensors) {
        Shape ne{1, 1, 1, 1};
        std::copy(t.ne.begin(), t.ne.end(), ne.begin());
        writer.add(name, ne, t.v);
    }
    return std::make_shared<gguf::File>(gguf::File::from_bytes(writer.to_bytes(), architecture + ".gguf"));
}

} // namespace schedscope::test
