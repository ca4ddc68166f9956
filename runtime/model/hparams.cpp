#include "runtime/model/hparams.h"

#include "runtime/error.h"
#include "runtime/gguf/gguf.h"
#include "runtime/numbers.h"
#include "runtime/system/visible_text.h"

#include <cmath>
#include <optional>

namespace schedscope {

void refuse_key(const gguf::File& file, const std::string& key, const std::string& why) {
    throw Error(ErrorKind::input, file.path() + ": " + key + " " + why);
}

namespace {

/// No model comes near.
constexpr uint32_t max_size = 1U << 24;

class Keys {
public:
    Keys(const gguf::File& file, std::string prefix) : file_(file), prefix_(std::move(prefix) + ".") {}

    int32_t size(const std::string& key, uint32_t least = 1) const {
        return checked(key, file_.require_u32(prefix_ + key), least);
    }
    int32_t size_or(const std::string& key, int32_t otherwise, uint32_t least = 1) const {
        const auto v = file_.get_u32(prefix_ + key);
        return v ? checked(key, *v, least) : otherwise;
    }
    float number_or(const std::string& key, float otherwise) const {
        const float v = file_.get_f32(prefix_ + key).value_or(otherwise);
        if (!std::isfinite(v)) {
            refuse_key(file_, prefix_ + key, "is not a finite number");
        }
        return v;
    }
    float positive_or(const std::string& key, float otherwise) const {
        const float v = number_or(key, otherwise);
        if (v <= 0) {
            refuse_key(file_, prefix_ + key, "must be positive");
        }
        return v;
    }
    bool has(const std::string& key) const { return file_.find(prefix_ + key) != nullptr; }
    std::optional<std::string_view> text(const std::string& key) const { return file_.get_string(prefix_ + key); }
    [[noreturn]] void refuse(const std::string& key, const std::string& why) const { refuse_key(file_, prefix_ + key, why); }

private:
    int32_t checked(const std::string& key, uint32_t v, uint32_t least) const {
        if (v < least || v > max_size) {
            refuse(key, "can't be " + std::to_string(v));
        }
        return v;
    }
    const gguf::File& file_;
    std::string prefix_;
};

RopeScaling scaling_of(const Keys& keys) {
    const auto text = keys.text("rope.scaling.type");
    if (!text) { // a factor alone means the oldest kind
        return keys.has("rope.scaling.factor") || keys.has("rope.scale_linear") ? RopeScaling::linear : RopeScaling::none;
    }
    if (*text == "none") {
        return RopeScaling::none;
    }
    if (*text == "linear") {
        return RopeScaling::linear;
    }
    if (*text == "yarn") {
        return RopeScaling::yarn;
    }
    if (*text == "longrope") {
        return RopeScaling::longrope;
    }
    keys.refuse("rope.scaling.type", visible_name(*text) + " is not known");
}

RopeHparams read_rope(const Keys& keys, const Hparams& h) {
    RopeHparams r;
    r.n_dims = keys.size_or("rope.dimension_count", h.head_length_k);
    if (r.n_dims % 2 != 0 || r.n_dims > h.head_length_k) {
        keys.refuse("rope.dimension_count",
                    "can't be " + std::to_string(r.n_dims) + " with heads of " + std::to_string(h.head_length_k));
    }
    r.freq_base = keys.positive_or("rope.freq_base", r.freq_base);
    r.scaling = scaling_of(keys);
    if (r.scaling != RopeScaling::none) {
        const float factor = keys.number_or("rope.scaling.factor", keys.number_or("rope.scale_linear", 1.0F));
        r.factor = factor == 0 ? 1.0F : factor;
        if (r.factor < 0) {
            keys.refuse("rope.scaling.factor", "must be positive");
        }
    }
    r.attn_factor = keys.number_or("rope.scaling.attn_factor", 1.0F);
    r.n_ctx_original = keys.size_or("rope.scaling.original_context_length", h.n_ctx_train);
    r.beta_fast = keys.number_or("rope.scaling.yarn_beta_fast", r.beta_fast);
    r.beta_slow = keys.number_or("rope.scaling.yarn_beta_slow", r.beta_slow);
    return r;
}

int32_t vocabulary_size(const gguf::File& file, const Keys& keys) {
    if (const gguf::MetadataValue* tokens = file.find("tokenizer.ggml.tokens"); tokens != nullptr && tokens->is_array()) {
        if (tokens->count == 0 || tokens->count > max_size) {
            refuse_key(file, "tokenizer.ggml.tokens", "has " + std::to_string(tokens->count) + " entries");
        }
        return int_of(tokens->count);
    }
    return keys.size("vocab_size");
}

} // namespace

float read_soft_cap(const gguf::File& file, const std::string& key, float otherwise) {
    const float cap = file.get_f32(key).value_or(otherwise);
    if (!std::isfinite(cap) || cap < 0) {
        refuse_key(file, key, "must be a finite number from 0 up");
    }
    return cap;
}

Hparams read_hparams(const gguf::File& file) {
    Hparams h;
    h.architecture = file.require_string("general.architecture");
    const Keys keys(file, h.architecture);
    h.n_vocab = vocabulary_size(file, keys);
    h.n_ctx_train = keys.size("context_length");
    h.n_embd = keys.size("embedding_length");
    h.n_layer = keys.size("block_count");
    if (static_cast<size_t>(h.n_layer) > file.tensors().size()) {
        keys.refuse("block_count", "is " + std::to_string(h.n_layer) + ", but the file has only " +
                                       std::to_string(file.tensors().size()) + " tensors");
    }
    h.n_ff = keys.size_or("feed_forward_length", 0, 0);
    h.n_head = keys.size("attention.head_count");
    h.n_head_kv = keys.size_or("attention.head_count_kv", h.n_head);
    if (h.n_head % h.n_head_kv != 0) {
        keys.refuse("attention.head_count_kv",
                    std::to_string(h.n_head_kv) + " does not divide the " + std::to_string(h.n_head) + " heads");
    }
    if (!keys.has("attention.key_length") && h.n_embd % h.n_head != 0) {
        keys.refuse("attention.head_count", std::to_string(h.n_head) + " does not divide the width " + std::to_string(h.n_embd));
    }
    h.head_length_k = keys.size_or("attention.key_length", std::max(h.n_embd / h.n_head, 1));
    h.head_length_v = keys.size_or("attention.value_length", std::max(h.n_embd / h.n_head, 1));
    for (const int32_t length : {h.head_length_k, h.head_length_v}) {
        if (int64_t{length} * h.n_head > max_size) {
            keys.refuse("attention.head_count",
                        "can't be " + std::to_string(h.n_head) + " with heads of " + std::to_string(length));
        }
    }
    h.n_expert = keys.size_or("expert_count", 0, 0);
    h.n_expert_used = keys.size_or("expert_used_count", 0, 0);
    if (h.n_expert_used > h.n_expert || (h.n_expert > 0 && h.n_expert_used == 0)) {
        keys.refuse("expert_used_count",
                    "can't be " + std::to_string(h.n_expert_used) + " of " + std::to_string(h.n_expert) + " experts");
    }
    h.n_ff_expert = keys.size_or("expert_feed_forward_length", h.n_ff, 0);
    if (h.n_ff == 0 && h.n_ff_expert == 0) {
        keys.refuse("feed_forward_length", "is missing");
    }
    h.attention_scale = keys.number_or("attention.scale", 0);
    if (h.attention_scale == 0) {
        h.attention_scale = 1.0F / std::sqrt(static_cast<float>(h.head_length_k));
    }
    for (const char* key : {"attention.layer_norm_epsilon", "attention.layer_norm_rms_epsilon"}) {
        h.norm_eps = keys.number_or(key, h.norm_eps);
        if (h.norm_eps < 0) {
            keys.refuse(key, "can't be negative");
        }
    }
    h.rope = read_rope(keys, h);
    h.rope_sliding = h.rope;
    return h;
}

void read_sliding_window(Hparams& h, const gguf::File& file, int32_t window, int32_t period, float freq_base) {
    const Keys keys(file, h.architecture);
    h.window = keys.size_or("attention.sliding_window", window, 0);
    if (h.window == 0) {
        return;
    }
    const size_t layers = h.n_layer;
    const char* pattern = "attention.sliding_window_pattern";
    const gguf::MetadataValue* v = file.find(h.architecture + "." + pattern);
    if (v != nullptr && v->is_array()) {
        const auto flags = v->as_i32_array();
        if (!flags || flags->size() < layers) {
            keys.refuse(pattern, "must have a flag for each of the " + std::to_string(layers) + " blocks");
        }
        for (size_t il = 0; il < layers; ++il) {
            h.sliding.push_back((*flags)[il] != 0 ? 1 : 0);
        }
    } else {
        const int32_t every = keys.size_or(pattern, period, 0);
        for (int32_t il = 0; il < h.n_layer; ++il) {
            h.sliding.push_back(every == 0 || il % every < every - 1 ? 1 : 0);
        }
    }
    h.rope_sliding.freq_base = keys.positive_or("rope.freq_base_swa", freq_base);
}

} // namespace schedscope
