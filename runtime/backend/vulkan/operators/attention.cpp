#include "runtime/backend/vulkan/operators/operators.h"
#include "runtime/backend/vulkan/shader_name.h"

#include <algorithm>

namespace schedscope::vulkan {

namespace {

Answer supports_flash_attn(const Tensor& node) {
    const Tensor& k = *node.src[1];
    if (node.src[0]->type != Type::F32) {
        return Answer::no(Refusal::type, "queries are not f32");
    }
    if (!is_cached(k.type) || !is_cached(node.src[2]->type)) {
        return Answer::no(Refusal::type, "keys or values are neither floats nor blocks of 32");
    }
    if (!has_contiguous_rows(k) || !has_contiguous_rows(*node.src[2])) {
        return Answer::no(Refusal::layout, "rows of keys or values are not contiguous");
    }
    return k.ne[0] <= 512 && node.src[2]->ne[0] <= 512 ? yes : Answer::no(Refusal::shape, "heads are longer than 512");
}

/// Queries with the same head of keys share workgroups.
void append_attention(std::string_view shader, const Tensor& node, const DispatchOptions& options, std::vector<Dispatch>& out) {
    const Tensor& q = *node.src[0];
    const Tensor& k = *node.src[1];
    const int64_t in_head = q.ne[1] * (q.ne[2] / k.ne[2]);
    const int64_t heads = k.ne[2] * q.ne[3];
    const auto groups = [&](int64_t queries) { return (in_head + queries - 1) / queries * heads; };
    const int64_t most = options.row_per_invocation ? 8 : 4;
    int64_t queries = 1;
    while (queries < std::min(in_head, most) && groups(2 * queries) >= options.groups_wanted) {
        queries *= 2;
    }
    const NameParts family = NameParts(shader).add(options.row_per_invocation ? "_one_subgroup" : "");
    Dispatch d = launch(shader_name(family, {k.type, node.src[2]->type}), node, groups(queries));
    d.variant = static_cast<uint32_t>(queries);
    const int32_t masked = node.src[3] != nullptr ? 1 : 0;
    d.node.extra = {masked};
    out.push_back(d);
}

Answer supports_soft_max(const Tensor& node) {
    const Tensor* mask = node.src[1];
    if (node.type != Type::F32 || node.src[0]->type != Type::F32) {
        return Answer::no(Refusal::type, "the shader is for f32 only");
    }
    return mask == nullptr || has_type(mask, {Type::F32, Type::F16})
               ? yes
               : Answer::no(Refusal::type, "the mask is neither f32 nor f16");
}

void append_soft_max(std::string_view shader, const Tensor& node, const DispatchOptions&, std::vector<Dispatch>& out) {
    const bool masked = node.src[1] != nullptr;
    const bool sinking = node.src[2] != nullptr;
    Dispatch d = launch(shader_name(shader, {masked ? node.src[1]->type : Type::F32}), node, n_rows(node));
    d.node.extra = {(masked ? 1 : 0) | (sinking ? 2 : 0)};
    out.push_back(d);
}

Answer supports_rope(const Tensor& node) {
    if (!has_type(&node, {Type::F32, Type::F16}) || node.src[0]->type != node.type) {
        return Answer::no(Refusal::type, "the shader is for f32 or f16 throughout");
    }
    return has_contiguous_rows(*node.src[0]) ? yes : Answer::no(Refusal::layout, "rows are not contiguous");
}

void append_rope(std::string_view shader, const Tensor& node, const DispatchOptions&, std::vector<Dispatch>& out) {
    out.push_back(rope_launch(shader_name(shader, {node.type}), node));
}

constexpr VulkanOperator attention_entries[] = {
    {Op::FLASH_ATTN_EXT, "flash_attn", supports_flash_attn, append_attention},
    {Op::SOFT_MAX, "soft_max", supports_soft_max, append_soft_max},
    {Op::ROPE, "rope", supports_rope, append_rope},
};

} // namespace

std::span<const VulkanOperator> attention_operators() noexcept { return attention_entries; }

} // namespace schedscope::vulkan
