#include "runtime/backend/norm_fusion.h"

#include "runtime/backend/buffer.h"

#include <string_view>

namespace schedscope {

namespace {

/// What keeps a norm and the product behind it apart; empty: nothing.
std::string_view why_not(const SplitGraph& split, size_t norm_index) {
    const Tensor& norm = *split.nodes[norm_index];
    const Tensor& product = *split.nodes[norm_index + 1];
    const Tensor& weight = product.src[0] == &norm ? *product.src[1] : *product.src[0];
    if ((norm.flags & flag_output) != 0) {
        return "output";
    }
    if ((norm.flags & flag_watched) != 0) {
        return "watched";
    }
    if (&weight == &norm || norm.readers > 1) {
        return "used elsewhere";
    }
    if (!same_shape(norm, product) || weight.ne[0] != norm.ne[0]) {
        return "shapes";
    }
    if (norm.type != Type::F32 || product.type != Type::F32 || norm.src[0]->type != Type::F32 || weight.type != Type::F32) {
        return "types";
    }
    if (!has_contiguous_rows(*norm.src[0]) || !has_contiguous_rows(weight)) {
        return "layout";
    }
    return {};
}

bool overlap(const Tensor& a, const Tensor& b) noexcept {
    return a.buffer == b.buffer && a.offset < b.offset + n_bytes(b) && b.offset < a.offset + n_bytes(a);
}

} // namespace

void find_norm_groups(SplitGraph& split) {
    for (size_t i = 0; i + 1 < split.nodes.size(); ++i) {
        const Tensor& norm = *split.nodes[i];
        const Tensor& product = *split.nodes[i + 1];
        if (norm.op != Op::RMS_NORM || product.op != Op::MUL || (product.src[0] != &norm && product.src[1] != &norm)) {
            continue;
        }
        const auto index = static_cast<int32_t>(i);
        if (const std::string_view why = why_not(split, i); !why.empty()) {
            split.not_fused.push_back({index, index + 1, why});
        } else {
            split.groups.push_back({index, 2, "rms_norm_mul"});
        }
    }
}

bool norm_group_is_safe(const Tensor& norm, const Tensor& product) noexcept {
    const Tensor& source = *norm.src[0];
    const Tensor& weight = product.src[0] == &norm ? *product.src[1] : *product.src[0];
    const bool in_place = product.buffer == source.buffer && product.offset == source.offset && product.nb == source.nb;
    return (in_place || !overlap(product, source)) && !overlap(product, weight);
}

} // namespace schedscope
