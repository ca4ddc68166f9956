#pragma once

#include <cstdint>
#include <string>

namespace schedscope {

namespace gguf {
class File;
}

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

/// The sizes and constants of a model. Read from the file's keys `ARCHITECTURE.…`; what a file does not say has the defaults
/// of the format's reference. All sizes are positive and fit together.
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
    float norm_eps = 1e-5F;    ///< of whichever norm the architecture has
    float attention_scale = 0; ///< factor on the scores; set: 1/√(head length) unless the file says otherwise
    RopeHparams rope;

    int32_t n_embd_k() const noexcept { return head_length_k * n_head_kv; } ///< values of all k heads of a token
    int32_t n_embd_v() const noexcept { return head_length_v * n_head_kv; }
    int32_t n_embd_q() const noexcept { return head_length_k * n_head; }
};

/// What all architectures have in common. Throws Error(input) naming file and key for what is missing or impossible.
Hparams read_hparams(const gguf::File& file);

/// Throws Error(input) "FILE: KEY WHY".
[[noreturn]] void refuse_key(const gguf::File& file, const std::string& key, const std::string& why);

} // namespace schedscope
