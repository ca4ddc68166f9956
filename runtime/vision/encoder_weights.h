#pragma once

#include "runtime/model/weights.h"

#include <vector>

namespace schedscope::vision {

/// The weights of one block of the encoder. Shapes as the file has them: [inputs, outputs].
struct BlockWeights {
    Linear ln1;                    ///< [n_embd]
    Linear attn_q, attn_k, attn_v; ///< [n_embd, n_embd]
    Linear attn_out;               ///< [n_embd, n_embd]
    Linear ln2;                    ///< [n_embd]
    Linear ffn_up;                 ///< [n_embd, n_ff]
    Linear ffn_down;               ///< [n_ff, n_embd]
};

/// All but the projector's. Null where an encoder has none.
struct EncoderWeights {
    Linear patch;                    ///< [patch, patch, 3, n_embd]: the convolution, and [n_embd]
    Tensor* class_embd = nullptr;    ///< [n_embd]
    Tensor* position_embd = nullptr; ///< [n_embd, positions]
    Linear pre_ln, post_ln;          ///< [n_embd]
    std::vector<BlockWeights> blocks;
};

} // namespace schedscope::vision
