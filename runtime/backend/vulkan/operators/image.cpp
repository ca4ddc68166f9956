#include "runtime/backend/vulkan/operators/operators.h"
#include "runtime/backend/vulkan/shader_name.h"

namespace schedscope::vulkan {

namespace {

Answer supports_im2col(const Tensor& node) {
    return node.src[1]->type == Type::F32 && has_type(&node, {Type::F32, Type::F16})
               ? yes
               : Answer::no(Refusal::type, "the shader is for f32 images and f32 or f16 columns");
}

void append_im2col(std::string_view shader, const Tensor& node, const DispatchOptions& options, std::vector<Dispatch>& out) {
    append_elements(shader_name(shader, {node.type}), node, options, out);
}

constexpr VulkanOperator image_entries[] = {
    {Op::IM2COL, "im2col", supports_im2col, append_im2col},
    {Op::POOL_2D, "pool_2d", f32, append_elements},
};

} // namespace

std::span<const VulkanOperator> image_operators() noexcept { return image_entries; }

} // namespace schedscope::vulkan
