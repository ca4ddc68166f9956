#include "runtime/model/blocks.h"

namespace schedscope::blocks {

Tensor* input_embedding(GraphBuilder& b) {
    const int64_t n_tokens = b.shape.n_tokens;
    b.io.tokens = b.g.input(Type::I32, {n_tokens, 1, 1, 1}, "inp_tokens");
    b.io.embeddings = b.g.input(Type::F32, {b.h.n_embd, n_tokens, 1, 1}, "inp_embd");
    if (b.shape.embeddings) {
        b.io.tokens = nullptr;
        b.g.expand(b.io.embeddings);
        return b.io.embeddings;
    }
    Tensor* x = b.name(ops::get_rows(b.g, b.w.token_embedding, b.io.tokens), "embd");
    // The reference's graphs have both inputs, so that the numbers of unnamed leafs agree.
    b.g.expand(x);
    b.g.expand(b.io.embeddings);
    b.io.embeddings = nullptr;
    return x;
}

void attention_inputs(GraphBuilder& b) {
    const int64_t n_tokens = b.shape.n_tokens;
    const int64_t v_rows = b.cache.v_transposed ? n_tokens * b.h.n_embd_v() : n_tokens;
    b.io.positions = b.g.input(Type::I32, {n_tokens, 1, 1, 1});
    b.io.k_rows = b.g.input(Type::I64, {n_tokens, 1, 1, 1});
    b.io.v_rows = b.g.input(Type::I64, {v_rows, 1, 1, 1});
    const Type mask = b.settings.flash_attention ? Type::F16 : Type::F32;
    b.io.mask = b.g.input(mask, {b.cache.n_kv, n_tokens, 1, 1}, "attn_inp_kq_mask");
    b.io.output_rows = b.g.input(Type::I32, {b.shape.n_outputs, 1, 1, 1});
}

} // namespace schedscope::blocks
