#pragma once

#include "runtime/backend/vulkan/dispatch_parts.h"
#include "runtime/planner/answer.h"

#include <initializer_list>
#include <span>
#include <string_view>
#include <vector>

namespace schedscope::vulkan {

/// How a node becomes launches; `shader`: the entry's.
using Append = void (*)(std::string_view shader, const Tensor& node, const DispatchOptions& options, std::vector<Dispatch>& out);

/// An operator on Vulkan: which nodes its shader takes, and how it is launched. Its entry stands in the file of its family.
struct VulkanOperator {
    Op op;
    std::string_view shader; ///< the module's name, or what the names of its modules begin with
    /// Of types, shapes and layouts only; the device's limits are asked for all operators alike.
    Answer (*supports)(const Tensor& node);
    Append append;
};

/// Null where there is no shader: leafs and views need none.
const VulkanOperator* find_operator(Op op) noexcept;

// The families, each in operators/NAME.cpp.
std::span<const VulkanOperator> elementwise_operators() noexcept;
std::span<const VulkanOperator> norm_operators() noexcept;
std::span<const VulkanOperator> reduce_operators() noexcept;
std::span<const VulkanOperator> product_operators() noexcept;
std::span<const VulkanOperator> attention_operators() noexcept;
std::span<const VulkanOperator> move_operators() noexcept;
std::span<const VulkanOperator> image_operators() noexcept;

// Rules of more than one family.
constexpr Answer yes{};
bool has_type(const Tensor* t, std::initializer_list<Type> types) noexcept;
bool is_weight(Type type) noexcept;  ///< floats, and those kinds of blocks that shaders read
bool is_cached(Type type) noexcept;  ///< in a KV cache: floats, and blocks of 32 that shaders write
Answer f32(const Tensor& node);      ///< the result and sources 0 and 1, with any strides
Answer f32_rows(const Tensor& node); ///< the same, with contiguous rows
Answer one_type(const Tensor& node); ///< F32 or F16 throughout

// Launches of more than one family.
/// An invocation for each element of the result, by the shader of this name.
void append_elements(std::string_view shader, const Tensor& node, const DispatchOptions&, std::vector<Dispatch>& out);
/// A workgroup for each row of the result.
void append_rows(std::string_view shader, const Tensor& node, const DispatchOptions&, std::vector<Dispatch>& out);
/// FORM of form.glsl. Copies count their elements in two shapes; what else is element-wise has one.
uint32_t form_of(const Tensor& node);

} // namespace schedscope::vulkan
