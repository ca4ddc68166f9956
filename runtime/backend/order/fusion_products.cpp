// Groups around products: what is added to them, and the gated feed-forward.

#include "runtime/backend/order/fusion_parts.h"
#include "runtime/backend/order/fusion_pattern.h"

namespace schedscope::fused {

namespace {

/// A product's result and what is added to it.
void add_to_product(Match& match, const Tensor& product, const Tensor& sum) {
    match.blame(product, sum, why_needed(product));
    const Tensor& bias = other_source(sum, product);
    match.blame(product, sum, &bias == &product ? "used elsewhere" : "");
    const bool one_row = bias.ne[0] == product.ne[0] && n_rows(bias) == 1;
    match.blame(product, sum, same_shape(product, sum) && (one_row || same_shape(bias, product)) ? "" : "shapes");
    match.blame(product, sum, why_not_row(bias, sum));
}

/// One of two sources of a gate.
void gate(Match& match, const Tensor& inner, const Tensor& node) {
    match.blame(inner, node, why_needed(inner));
    match.blame(inner, node, same_shape(inner, node) ? "" : "shapes");
    match.blame(inner, node, inner.type == Type::F32 && node.type == Type::F32 ? "" : "types");
}

bool is_product(const Tensor* t, const Positions& positions) noexcept {
    return t != nullptr && t->op == Op::MUL_MAT && positions.of(*t) >= 0;
}

} // namespace

bool looks_like_product(const Pattern& pattern, Tensor& last, int choice, const Positions& positions, Match& match) {
    Tensor* sum = &last;
    if (pattern.n_nodes == 3) {
        sum = last.src[0]->op == Op::ADD && positions.of(*last.src[0]) >= 0 ? last.src[0] : nullptr;
    }
    Tensor* product = sum != nullptr ? source_with(*sum, Op::MUL_MAT, choice, positions) : nullptr;
    if (product == nullptr) {
        return false;
    }
    match.add(product);
    match.add(sum);
    add_to_product(match, *product, *sum);
    if (sum != &last) {
        match.add(&last);
        match.blame(*sum, last, why_needed(*sum));
        match.blame(*sum, last, last.type == Type::F32 ? "" : "types");
    }
    return true;
}

bool looks_like_gate_up(const Pattern& pattern, Tensor& last, int choice, const Positions& positions, Match& match) {
    Tensor* gated = last.src[0];
    Tensor* up = last.src[1];
    if (pattern.n_nodes == 4) {
        Tensor* function = source_with(last, Op::UNARY, choice, positions);
        if (function == nullptr || !gate_with(params_of<Op::UNARY>(*function).function).has_value()) {
            return false;
        }
        gated = function->src[0];
        up = last.src[0] == function ? last.src[1] : last.src[0];
        if (!is_product(gated, positions) || !is_product(up, positions)) {
            return false;
        }
        match.add(function);
        gate(match, *gated, *function);
        gate(match, *function, last);
    } else if (choice != 0 || !is_product(gated, positions) || !is_product(up, positions)) {
        return false;
    } else {
        gate(match, *gated, last);
    }
    match.blame(*gated, last, gated == up ? "used elsewhere" : "");
    gate(match, *up, last);
    match.blame(*gated, *up, gated->src[1] == up->src[1] ? "" : "sources differ");
    match.add(gated);
    match.add(up);
    match.add(&last);
    return true;
}

Product product_parts(std::span<Tensor* const> nodes) noexcept {
    Product parts;
    parts.product = nodes[0];
    parts.bias = &other_source(*nodes[1], *nodes[0]);
    if (nodes.size() > 2) {
        parts.act = params_of<Op::UNARY>(*nodes[2]).function;
    }
    parts.result = nodes.back();
    return parts;
}

GateUp gate_up_parts(std::span<Tensor* const> nodes) noexcept {
    GateUp parts;
    const Tensor& last = *nodes.back();
    parts.result = &last;
    if (last.op == Op::GLU) {
        parts.gate = last.src[0];
        parts.up = last.src[1];
        parts.act = params_of<Op::GLU>(last).function;
        return parts;
    }
    // Of MUL's two sources one may be a UNARY that a product reads from: the function is the one in the group.
    const Tensor* function = last.src[0]->op == Op::UNARY ? last.src[0] : last.src[1];
    parts.gate = function->src[0];
    parts.up = &other_source(last, *function);
    parts.act = *gate_with(params_of<Op::UNARY>(*function).function);
    return parts;
}

} // namespace schedscope::fused
