#include "runtime/model/blocks.h"

#include "runtime/numbers.h"

#include <array>
#include <string>

namespace schedscope::blocks {

namespace {

struct ActivationNames {
    GluOp gated;
    UnaryOp plain;
    std::string_view gated_name;
    std::string_view plain_name;
};

/// By Activation.
constexpr std::array names{
    ActivationNames{GluOp::SWIGLU, UnaryOp::SILU, "ffn_swiglu", "ffn_silu"},
    ActivationNames{GluOp::GEGLU, UnaryOp::GELU, "ffn_geglu", "ffn_gelu"},
    ActivationNames{GluOp::GEGLU_QUICK, UnaryOp::GELU_QUICK, "ffn_geglu", "ffn_gelu"},
    ActivationNames{GluOp::REGLU, UnaryOp::RELU, "ffn_reglu", "ffn_relu"},
};

/// A product with a bias of its own name behind it.
Tensor* product(GraphBuilder& b, const Linear& w, Tensor* x, const std::string& what, int32_t il) {
    x = b.name(ops::mul_mat(b.g, w.weight, x), what, il);
    return w.bias == nullptr ? x : b.name(ops::add(b.g, x, w.bias), what + "_b", il);
}

} // namespace

Tensor* feed_forward(GraphBuilder& b, Tensor* x, Activation activation, int32_t il) {
    const InPart part(b.g, Role::feed_forward, il);
    const LayerWeights& w = b.layer(il);
    const ActivationNames& a = names[ordinal(activation)];
    Tensor* up = product(b, w.ffn_up, x, "ffn_up", il);
    if (w.ffn_gate.weight != nullptr) {
        Tensor* gate = product(b, w.ffn_gate, x, "ffn_gate", il);
        x = b.name(ops::glu(b.g, gate, up, a.gated), a.gated_name, il);
    } else if (up->ne[0] == 2 * w.ffn_down.weight->ne[0]) {
        x = b.name(ops::glu(b.g, up, nullptr, a.gated), a.gated_name, il);
    } else {
        x = b.name(ops::unary(b.g, up, a.plain), a.plain_name, il);
    }
    return linear(b, w.ffn_down, x, "ffn_down", il);
}

} // namespace schedscope::blocks
