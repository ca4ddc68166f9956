#include "runtime/model/blocks.h"

namespace schedscope::blocks {

namespace {

/// Tokens' rows or given ones, as they are.
Tensor* unscaled_embedding(GraphBuilder& b) {
    const int64_t n_tokens = b.shape.n_tokens;
    b.io.tokens = b.g.input(Type::I32, {n_tokens, 1, 1, 1}, "inp_tokens");
    b.io.embeddings = b.g.input(Type::F32, {b.h.n_embd, n_tokens, 1, 1}, "inp_embd");
    if (b.shape.embeddings) {
        b.io.tokens = nullptr;
        b.g.expand(b.io.embeddings);
        return b.io.embeddings;
    }
    const InPart part(b.g, Role::embedding);
    Tensor* x = b.name(ops::get_rows(b.g, b.w.token_embedding, b.io.tokens), "embd");
    // ggml's graphs have both inputs, so that the numbers of unnamed leafs agree.
    b.g.expand(x);
    b.g.expand(b.io.embeddings);
    b.io.embeddings = nullptr;
    return x;
}

/// Where keys and values go, and who sees whom.
void cache_inputs(GraphBuilder& b, Tensor*& k_rows, Tensor*& v_rows, Tensor*& mask) {
    const int64_t n_tokens = b.shape.n_tokens;
    const int64_t n_v_rows = b.cache.v_transposed ? n_tokens * b.h.n_embd_v() : n_tokens;
    k_rows = b.g.input(Type::I64, {n_tokens, 1, 1, 1});
    v_rows = b.g.input(Type::I64, {n_v_rows, 1, 1, 1});
    const Type type = b.settings.flash_attention ? Type::F16 : Type::F32;
    mask = b.g.input(type, {b.cache.n_kv, n_tokens, 1, 1}, "attn_inp_kq_mask");
}

} // namespace

Tensor* input_embedding(GraphBuilder& b) {
    Tensor* x = unscaled_embedding(b);
    if (b.h.embedding_scale == 1 || (b.shape.embeddings && !b.h.scales_given_embeddings)) {
        return x;
    }
    const InPart part(b.g, Role::embedding);
    return b.name(ops::scale(b.g, x, b.h.embedding_scale), "inp_scaled");
}

void attention_inputs(GraphBuilder& b) {
    b.io.positions = b.g.input(Type::I32, {b.shape.n_tokens, 1, 1, 1});
    cache_inputs(b, b.io.k_rows, b.io.v_rows, b.io.mask);
    if (b.h.window > 0) {
        cache_inputs(b, b.io.sliding_k_rows, b.io.sliding_v_rows, b.io.sliding_mask);
    }
    b.io.output_rows = b.g.input(Type::I32, {b.shape.n_outputs, 1, 1, 1});
}

} // namespace schedscope::blocks
