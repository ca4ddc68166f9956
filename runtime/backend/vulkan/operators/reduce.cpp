#include "runtime/backend/vulkan/operators/operators.h"

#include "runtime/numbers.h"

#include <algorithm>
#include <bit>

namespace schedscope::vulkan {

namespace {

/// A workgroup for each row of source 0.
void append_source_rows(std::string_view shader, const Tensor& node, const DispatchOptions&, std::vector<Dispatch>& out) {
    out.push_back(launch(shader, node, n_rows(*node.src[0])));
}

void append_sum(std::string_view shader, const Tensor& node, const DispatchOptions&, std::vector<Dispatch>& out) {
    out.push_back(launch(shader, node, 1));
}

Answer supports_argmax(const Tensor& node) {
    return node.src[0]->type == Type::F32 && has_contiguous_rows(*node.src[0]) && node.src[0]->ne[0] < (1 << 24)
               ? yes
               : Answer::no(Refusal::type, "the shader is for contiguous rows of f32");
}

constexpr int64_t sorted_at_once = 1024; ///< BLOCK of argsort.comp

Answer supports_sorting(const Tensor& node) {
    if (node.src[0]->type != Type::F32) {
        return Answer::no(Refusal::type, "the shader is for f32 only");
    }
    if (!has_contiguous_rows(*node.src[0])) {
        return Answer::no(Refusal::layout, "rows are not contiguous");
    }
    return node.src[0]->ne[0] <= (1 << 26) ? yes : Answer::no(Refusal::size_limit, "rows to sort are longer than 67108864");
}

/// Blocks are sorted first, then stretches of twice the length until one holds all.
void append_sort(std::string_view shader, const Tensor& node, const DispatchOptions&, std::vector<Dispatch>& out) {
    enum SortStep : int32_t { sort_all, sort_chosen, flip, disperse, disperse_block }; // as argsort.comp numbers them
    const Tensor& a = *node.src[0];
    const bool choose = node.op == Op::TOP_K && a.ne[0] > sorted_at_once;
    const int64_t n = choose ? node.ne[0] : a.ne[0];
    const auto add = [&](SortStep step, int64_t stretch, int64_t groups_in_row) {
        Dispatch d = launch(shader, node, groups_in_row * n_rows(a));
        d.node.extra = {node.op == Op::TOP_K || params_of<Op::ARGSORT>(node).descending != 0 ? 1 : 0, int_of(n),
                        int_of(step | stretch << 4)};
        out.push_back(d);
    };
    if (choose) {
        out.push_back(launch("top_k", node, n_rows(a)));
    }
    const int64_t blocks = groups_for(n, sorted_at_once);
    add(choose ? sort_chosen : sort_all, 0, blocks);
    const int64_t padded = std::bit_ceil(static_cast<uint64_t>(std::max<int64_t>(n, 2)));
    const int64_t pairs = groups_for(padded / 2, 128);
    for (int64_t stretch = 2 * sorted_at_once; stretch <= padded; stretch *= 2) {
        add(flip, stretch, pairs);
        for (int64_t part = stretch / 2; part > sorted_at_once; part /= 2) {
            add(disperse, part, pairs);
        }
        add(disperse_block, 0, blocks);
    }
}

constexpr VulkanOperator reduce_entries[] = {
    {Op::SUM_ROWS, "sum_rows", f32_rows, append_source_rows},
    {Op::MEAN, "mean", f32_rows, append_source_rows},
    {Op::ARGMAX, "argmax", supports_argmax, append_source_rows},
    {Op::SUM, "sum", f32, append_sum},
    {Op::CUMSUM, "cumsum", f32_rows, append_rows},
    {Op::ARGSORT, "argsort", supports_sorting, append_sort},
    {Op::TOP_K, "argsort", supports_sorting, append_sort},
};

} // namespace

std::span<const VulkanOperator> reduce_operators() noexcept { return reduce_entries; }

} // namespace schedscope::vulkan
