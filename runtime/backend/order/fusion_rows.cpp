// Groups that go row by row: norms with their weights, sums.

#include "runtime/backend/order/fusion_parts.h"
#include "runtime/backend/order/fusion_pattern.h"

#include <algorithm>

namespace schedscope::fused {

Tensor* source_with(const Tensor& node, Op op, int choice, const Positions& positions) noexcept {
    Tensor* found[2] = {nullptr, nullptr};
    for (const size_t slot : {0U, 1U}) {
        Tensor* source = node.src[slot];
        if (source != nullptr && source->op == op && source != found[0] && positions.of(*source) >= 0) {
            found[found[0] != nullptr ? 1 : 0] = source;
        }
    }
    if (found[1] != nullptr && positions.of(*found[1]) > positions.of(*found[0])) {
        std::swap(found[0], found[1]);
    }
    return found[choice];
}

std::string_view why_needed(const Tensor& inner) noexcept {
    if (inner.readers > 1 || inner.view_source != nullptr) {
        return "used elsewhere";
    }
    if ((inner.flags & flag_output) != 0) {
        return "output";
    }
    return (inner.flags & flag_watched) != 0 ? "watched" : "";
}

std::string_view why_not_row(const Tensor& operand, const Tensor& result) noexcept {
    if (operand.ne[0] != result.ne[0] || !can_repeat(operand, result)) {
        return "shapes";
    }
    if (operand.type != Type::F32 || result.type != Type::F32) {
        return "types";
    }
    return has_contiguous_rows(operand) ? "" : "layout";
}

namespace {

/// An operator between a result that stays inside and another operand.
void join(Match& match, const Tensor& inner, const Tensor& node) {
    match.blame(inner, node, why_needed(inner));
    const Tensor& other = other_source(node, inner);
    match.blame(inner, node, &other == &inner ? "used elsewhere" : "");
    match.blame(inner, node, same_shape(inner, node) ? "" : "shapes");
    match.blame(inner, node, why_not_row(other, node));
}

} // namespace

bool looks_like_norm(const Pattern& pattern, Tensor& last, int choice, const Positions& positions, Match& match) {
    const Op norm_op = pattern.kernel == rms_norm_mul || pattern.kernel == rms_norm_mul_add ? Op::RMS_NORM : Op::NORM;
    Tensor* product = &last;
    if (pattern.n_nodes == 3) {
        product = source_with(last, Op::MUL, choice, positions);
        choice = 0;
    }
    Tensor* norm = product != nullptr ? source_with(*product, norm_op, choice, positions) : nullptr;
    if (norm == nullptr) {
        return false;
    }
    match.add(norm);
    match.add(product);
    match.blame(*norm, *product, norm->src[0]->type == Type::F32 && norm->type == Type::F32 ? "" : "types");
    match.blame(*norm, *product, has_contiguous_rows(*norm->src[0]) ? "" : "layout");
    join(match, *norm, *product);
    if (product != &last) {
        match.add(&last);
        join(match, *product, last);
    }
    return true;
}

bool looks_like_chain(const Pattern& pattern, Tensor& last, int choice, const Positions& positions, Match& match) {
    Tensor* sum = &last;
    for (size_t n = 1; n < pattern.n_nodes; ++n) {
        match.add(sum);
        Tensor* before = source_with(*sum, Op::ADD, n == 1 ? choice : 0, positions);
        if (before == nullptr) {
            return false;
        }
        join(match, *before, *sum);
        sum = before;
    }
    match.blame(*sum, *match.member[match.n - 1], why_not_row(*sum->src[0], *sum));
    match.blame(*sum, *match.member[match.n - 1], why_not_row(*sum->src[1], *sum));
    match.add(sum);
    std::reverse(match.member.begin(), match.member.begin() + match.n);
    return true;
}

Norm norm_parts(std::span<Tensor* const> nodes) noexcept {
    Norm parts;
    parts.norm = nodes[0];
    parts.x = nodes[0]->src[0];
    parts.weight = &other_source(*nodes[1], *nodes[0]);
    parts.bias = nodes.size() > 2 ? &other_source(*nodes[2], *nodes[1]) : nullptr;
    parts.result = nodes.back();
    return parts;
}

Chain chain_parts(std::span<Tensor* const> nodes) noexcept {
    Chain parts;
    parts.operand[parts.n++] = nodes[0]->src[0];
    parts.operand[parts.n++] = nodes[0]->src[1];
    for (size_t i = 1; i < nodes.size(); ++i) {
        parts.operand[parts.n++] = &other_source(*nodes[i], *nodes[i - 1]);
    }
    parts.result = nodes.back();
    return parts;
}

} // namespace schedscope::fused
