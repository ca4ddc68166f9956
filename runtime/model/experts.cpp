#include "runtime/model/blocks.h"

#include <limits>
#include <vector>

namespace schedscope::blocks {

namespace {

/// Which experts each token goes to, [n_expert_used, n_tokens], and with what weights, [1, n_expert_used, n_tokens].
struct Routes {
    Tensor* chosen;
    Tensor* weights;
};

/// Weights of the chosen experts.
Tensor* routed_weights(GraphBuilder& b, Tensor* probabilities, Tensor* chosen, bool normalise, int32_t il) {
    Graph& g = b.g;
    const int64_t used = b.h.n_expert_used;
    const int64_t n_tokens = chosen->ne[1];
    Tensor* each = ops::reshape(g, probabilities, {1, b.h.n_expert, n_tokens, 1});
    Tensor* weights = b.name(ops::get_rows(g, each, chosen), "ffn_moe_weights", il);
    if (normalise) {
        constexpr float smallest_half = 6.103515625e-5F; // the sum is divided by; half precision holds nothing smaller
        weights = ops::reshape(g, weights, {used, n_tokens, 1, 1});
        Tensor* sum = b.name(ops::sum_rows(g, weights), "ffn_moe_weights_sum", il);
        sum =
            b.name(ops::clamp(g, sum, smallest_half, std::numeric_limits<float>::infinity()), "ffn_moe_weights_sum_clamped", il);
        weights = b.name(ops::div(g, weights, sum), "ffn_moe_weights_norm", il);
        weights = ops::reshape(g, weights, {1, used, n_tokens, 1});
    }
    g.expand(weights);
    return weights;
}

Routes route(GraphBuilder& b, Tensor* x, bool normalise_weights, int32_t il) {
    Graph& g = b.g;
    const InPart part(g, Role::router, il);
    Tensor* scores = b.name(ops::mul_mat(g, b.layer(il).ffn_router, x), "ffn_moe_logits", il);
    Tensor* probabilities = b.name(ops::soft_max(g, scores, nullptr, 1.0F, 0.0F), "ffn_moe_probs", il);
    Tensor* sorted = b.name(ops::argsort(g, probabilities, true), "ffn_moe_argsort", il);
    Tensor* chosen = b.name(ops::view_2d(g, sorted, b.h.n_expert_used, x->ne[1], sorted->nb[1], 0), "ffn_moe_topk", il);
    return {chosen, routed_weights(b, probabilities, chosen, normalise_weights, il)};
}

} // namespace

Tensor* experts(GraphBuilder& b, Tensor* x, bool normalise_weights, int32_t il) {
    Graph& g = b.g;
    const LayerWeights& w = b.layer(il);
    const int64_t used = b.h.n_expert_used;
    const int64_t n_embd = x->ne[0];
    const int64_t n_tokens = x->ne[1];

    const auto [chosen, weights] = route(b, x, normalise_weights, il);

    const InPart part(g, Role::experts, il);
    x = ops::reshape(g, x, {n_embd, 1, n_tokens, 1});
    Tensor* up = b.name(ops::mul_mat_id(g, w.ffn_up_experts, x, chosen), "ffn_moe_up", il);
    Tensor* gate = b.name(ops::mul_mat_id(g, w.ffn_gate_experts, x, chosen), "ffn_moe_gate", il);
    Tensor* hidden = b.name(ops::glu(g, gate, up, GluOp::SWIGLU), "ffn_moe_swiglu", il);
    Tensor* each = b.name(ops::mul_mat_id(g, w.ffn_down_experts, hidden, chosen), "ffn_moe_down", il);
    each = b.name(ops::mul(g, each, weights), "ffn_moe_weighted", il);

    // All views before the sums: a view between two sums would keep them from being fused.
    std::vector<Tensor*> outputs;
    for (int64_t i = 0; i < used; ++i) {
        outputs.push_back(ops::view_2d(g, each, n_embd, n_tokens, each->nb[2], i * each->nb[1]));
        g.expand(outputs.back());
    }
    Tensor* sum = outputs.front();
    for (size_t i = 1; i < outputs.size(); ++i) {
        sum = ops::add(g, sum, outputs[i]);
        g.expand(sum);
    }
    return used == 1 ? ops::cont(g, sum) : sum;
}

} // namespace schedscope::blocks
