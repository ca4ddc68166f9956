#include "runtime/backend/vulkan/operators/operators.h"

namespace schedscope::vulkan {

namespace {

/// A workgroup for each row of source 0.
void append_source_rows(std::string_view shader, const Tensor& node, const DispatchOptions&, std::vector<Dispatch>& out) {
    out.push_back(launch(shader, node, n_rows(*node.src[0])));
}

void append_group_norm(std::string_view shader, const Tensor& node, const DispatchOptions&, std::vector<Dispatch>& out) {
    out.push_back(launch(shader, node, params_of<Op::GROUP_NORM>(node).groups * node.ne[3]));
}

void append_sum(std::string_view shader, const Tensor& node, const DispatchOptions&, std::vector<Dispatch>& out) {
    out.push_back(launch(shader, node, 1));
}

Answer supports_argmax(const Tensor& node) {
    return node.src[0]->type == Type::F32 && has_contiguous_rows(*node.src[0]) && node.src[0]->ne[0] < (1 << 24)
               ? yes
               : Answer::no(Refusal::type, "the shader is for contiguous rows of f32");
}

constexpr VulkanOperator row_entries[] = {
    {Op::RMS_NORM, "rms_norm", f32_rows, append_rows},
    {Op::NORM, "norm", f32_rows, append_rows},
    {Op::L2_NORM, "l2_norm", f32_rows, append_rows},
    {Op::GROUP_NORM, "group_norm", f32, append_group_norm},
    {Op::SUM_ROWS, "sum_rows", f32_rows, append_source_rows},
    {Op::MEAN, "mean", f32_rows, append_source_rows},
    {Op::ARGMAX, "argmax", supports_argmax, append_source_rows},
    {Op::SUM, "sum", f32, append_sum},
    {Op::CUMSUM, "cumsum", f32_rows, append_rows},
};

} // namespace

std::span<const VulkanOperator> row_operators() noexcept { return row_entries; }

} // namespace schedscope::vulkan
