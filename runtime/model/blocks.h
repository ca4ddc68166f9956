#pragma once

#include "runtime/model/graph_builder.h"

/// The parts that all architectures are built from. ne is written [ne0, ne1, …]; x is a hidden state [n_embd, n_tokens].
namespace schedscope::blocks {

/// Rows of the embedding for tokens, or the given embeddings, scaled where the model does: [n_embd, n_tokens].
Tensor* input_embedding(GraphBuilder& b);

/// The inputs that every block uses: positions, rows of the cache, the mask (another pair of both for layers that slide), the
/// rows with outputs. Before the first block.
void attention_inputs(GraphBuilder& b);

/// weight × norm(x) + bias. The caller names the result.
Tensor* norm(GraphBuilder& b, Tensor* x, const Linear& weight, NormKind kind, int32_t il);

/// weight · x + bias; both are called WHAT.
Tensor* linear(GraphBuilder& b, const Linear& weight, Tensor* x, std::string_view what, int32_t il);

/// Projections of x, each [head length, heads, n_tokens].
struct Qkv {
    Tensor* q;
    Tensor* k;
    Tensor* v;
};
Qkv project_qkv(GraphBuilder& b, Tensor* x, int32_t il);

/// Norms of each head of q and k, where the model has them; named Qcur_normed and Kcur_normed.
void normalise_heads(GraphBuilder& b, Qkv& qkv, int32_t il);

/// A rotation as the operator takes it.
RopeParams rope_params(const RopeHparams& r) noexcept;
/// What divides a layer's angles; null: nothing does. Long rope has two, for contexts up to the original length and beyond.
Tensor* rope_factors(const LayerWeights& l, const RopeHparams& r, int64_t n_ctx) noexcept;

/// Turns q and k to their positions, named Qcur and Kcur.
void rotate(GraphBuilder& b, Qkv& qkv, int32_t il);

/// Stores k and v in the cache, attends to it and projects to [n_embd, n_tokens].
Tensor* attention(GraphBuilder& b, const Qkv& qkv, const Linear& output, int32_t il);

/// In the last block, the rows with outputs; x as it is elsewhere.
Tensor* only_outputs(GraphBuilder& b, Tensor* x, int32_t il);

/// The first half of a block with RMS norms, before it is added to x: attention(norm(x)), of the rows with outputs. Where the
/// model multiplies q (query_scale) the product is called `scaled_q`; empty: it gets no name.
Tensor* attention_half(GraphBuilder& b, Tensor* x, int32_t il, std::string_view scaled_q = {});

enum class Activation : uint8_t { silu, gelu, gelu_quick, relu };
/// down(activation(gate · x) × (up · x)); without a gate down(activation(up · x)). The caller names the result.
Tensor* feed_forward(GraphBuilder& b, Tensor* x, Activation activation, int32_t il);

/// The mixture: a router chooses n_expert_used experts a token, whose outputs are added up by weight. The caller names the
/// result.
Tensor* experts(GraphBuilder& b, Tensor* x, bool normalise_weights, int32_t il);

/// Last norm and logits; ends the graph.
void output(GraphBuilder& b, Tensor* x, NormKind kind);

/// Whole graphs of LLaMA's kind: x + attention(norm(x)), then x + feed-forward(norm(x)). RMS norms, and SiLU gates or experts.
void pre_norm_model(GraphBuilder& b);

/// Whole graphs of Gemma's kind from its second version: with a norm behind the attention and behind the feed-forward part too,
/// and GELU gates.
void sandwich_norm_model(GraphBuilder& b);

} // namespace schedscope::blocks
