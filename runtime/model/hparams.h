#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace schedscope {

namespace gguf {
class File;
}

enum class NormKind : uint8_t { layer, rms }; ///< a layer norm has a bias

enum class RopeScaling : uint8_t { none, linear, yarn, longrope };

/// Rotary positions of a model.
struct RopeHparams {
    int32_t n_dims = 0; ///< rotated values of a head
    int32_t mode = 0;   ///< 0 adjacent pairs, 2 halves; the architecture's
    RopeScaling scaling = RopeScaling::none;
    float freq_base = 10000.0F;
    float factor = 1.0F; ///< the context is stretched by this; positions × 1/factor
    float attn_factor = 1.0F;
    int32_t n_ctx_original = 0; ///< context length before stretching
    float beta_fast = 32.0F;
    float beta_slow = 1.0F;
};

/// The sizes and constants of a model. Read from the file's keys `ARCHITECTURE.…`; what a file does not say is what
/// llama.cpp takes for it. All sizes are positive and fit together.
struct Hparams {
    std::string architecture;
    int32_t n_vocab = 0;
    int32_t n_ctx_train = 0;
    int32_t n_embd = 0; ///< width
    int32_t n_layer = 0;
    int32_t n_ff = 0; ///< width of the feed-forward part; 0 where all layers are experts
    int32_t n_head = 0;
    int32_t n_head_kv = 0;
    int32_t head_length_k = 0; ///< values of a head of q and k
    int32_t head_length_v = 0;
    int32_t n_expert = 0; ///< 0: no experts
    int32_t n_expert_used = 0;
    int32_t n_ff_expert = 0;
    float norm_eps = 1e-5F;               ///< of whichever norm the architecture has
    float attention_scale = 0;            ///< factor on the scores; set: 1/√(head length) unless the file says otherwise
    float query_scale = 0;                ///< where q is multiplied instead (attention_scale is 1 then); 0: it isn't
    float attention_cap = 0;              ///< c of c·tanh(score/c), before the mask; 0: none
    float output_cap = 0;                 ///< the same of the logits
    float embedding_scale = 1;            ///< factor on the embeddings of tokens
    bool scales_given_embeddings = false; ///< and on embeddings that are the input
    int32_t window = 0;           ///< n: in a layer that slides, key j is seen by query i when 0 ≤ i − j < n; 0: none slides
    std::vector<uint8_t> sliding; ///< [n_layer], which layers slide; empty: none
    RopeHparams rope;
    RopeHparams rope_sliding; ///< of the layers that slide

    bool slides(int32_t il) const noexcept { return window > 0 && !sliding.empty() && sliding[il] != 0; }
    const RopeHparams& rope_of(int32_t il) const noexcept { return slides(il) ? rope_sliding : rope; }

    int32_t n_embd_k() const noexcept { return head_length_k * n_head_kv; } ///< values of all k heads of a token
    int32_t n_embd_v() const noexcept { return head_length_v * n_head_kv; }
    int32_t n_embd_q() const noexcept { return head_length_k * n_head; }
};

/// What all architectures have in common. Throws Error(input) naming file and key for what is missing or impossible.
Hparams read_hparams(const gguf::File& file);

/// Layers slide over a window of `attention.sliding_window` tokens (or `window`, where the file has no such key; 0: none slides),
/// except each last one of `period`, or as the file's `attention.sliding_window_pattern` says (a period, or a flag per layer).
/// Their rope has the base `rope.freq_base_swa`, or `freq_base`, and the scaling that `h.rope_sliding` has. Throws as
/// read_hparams.
void read_sliding_window(Hparams& h, const gguf::File& file, int32_t window, int32_t period, float freq_base);

/// c of c·tanh(x/c), 0: none. Throws as read_hparams.
float read_soft_cap(const gguf::File& file, const std::string& key, float otherwise);

/// Throws Error(input) "FILE: KEY WHY".
[[noreturn]] void refuse_key(const gguf::File& file, const std::string& key, const std::string& why);

} // namespace schedscope
