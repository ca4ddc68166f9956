#pragma once

#include "runtime/tensor/tensor.h"

#include <vector>

namespace schedscope {

/// A product's matrix and what is added to it; the bias is null where the model has none.
struct Linear {
    Tensor* weight = nullptr;
    Tensor* bias = nullptr;
};

/// The weights of one block. Null where an architecture has none. Shapes as the file has them: [inputs, outputs].
struct LayerWeights {
    Linear attn_norm;                     ///< [n_embd]
    Linear attn_norm_2;                   ///< [n_embd]
    Linear attn_q;                        ///< [n_embd, n_embd_q]
    Linear attn_k;                        ///< [n_embd, n_embd_k]
    Linear attn_v;                        ///< [n_embd, n_embd_v]
    Linear attn_qkv;                      ///< [n_embd, n_embd_q + n_embd_k + n_embd_v]
    Linear attn_q_norm;                   ///< [head_length_k]
    Linear attn_k_norm;                   ///< [head_length_k]
    Linear attn_output;                   ///< [head_length_v × n_head, n_embd]
    Linear attn_post_norm;                ///< [n_embd]
    Tensor* rope_factors = nullptr;       ///< [n_dims / 2]
    Tensor* rope_factors_long = nullptr;  ///< [n_dims / 2]
    Tensor* rope_factors_short = nullptr; ///< [n_dims / 2]

    Linear ffn_norm;                    ///< [n_embd]
    Linear ffn_gate;                    ///< [n_embd, n_ff]
    Linear ffn_up;                      ///< [n_embd, n_ff], or both halves: [n_embd, 2 × n_ff]
    Linear ffn_down;                    ///< [n_ff, n_embd]
    Linear ffn_post_norm;               ///< [n_embd]
    Tensor* ffn_router = nullptr;       ///< [n_embd, n_expert]
    Tensor* ffn_gate_experts = nullptr; ///< [n_embd, n_ff_expert, n_expert]
    Tensor* ffn_up_experts = nullptr;   ///< [n_embd, n_ff_expert, n_expert]
    Tensor* ffn_down_experts = nullptr; ///< [n_ff_expert, n_embd, n_expert]
};

struct Weights {
    Tensor* token_embedding = nullptr; ///< [n_embd, n_vocab]
    Linear output_norm;                ///< [n_embd]
    Linear output; ///< [n_embd, n_vocab]; tied models have the embedding here, or a copy of it in other memory
    std::vector<LayerWeights> layers;
};

} // namespace schedscope
