#include "runtime/backend/vulkan/operators/operators.h"

namespace schedscope::vulkan {

namespace {

void append_group_norm(std::string_view shader, const Tensor& node, const DispatchOptions&, std::vector<Dispatch>& out) {
    out.push_back(launch(shader, node, params_of<Op::GROUP_NORM>(node).groups * node.ne[3]));
}

constexpr VulkanOperator norm_entries[] = {
    {Op::RMS_NORM, "rms_norm", f32_rows, append_rows},
    {Op::NORM, "norm", f32_rows, append_rows},
    {Op::L2_NORM, "l2_norm", f32_rows, append_rows},
    {Op::GROUP_NORM, "group_norm", f32, append_group_norm},
};

} // namespace

std::span<const VulkanOperator> norm_operators() noexcept { return norm_entries; }

} // namespace schedscope::vulkan
