#pragma once

#include "runtime/backend/vulkan/dispatch.h"
#include "runtime/backend/vulkan/shader_name.h"

#include <string_view>

namespace schedscope::vulkan {

// What launches of single nodes (operators/) and of fused ones (fused.cpp) are made of.

constexpr int64_t per_group = 256;     ///< invocations of the element-wise shaders
constexpr int64_t columns_at_once = 8; ///< at most, in mul_mat_vec.comp

uint32_t groups_for(int64_t items, int64_t size);
/// A launch that reads the node's sources and writes the node.
Dispatch launch(std::string_view kernel, const Tensor& node, int64_t groups);
/// Makes t the launch's source i (0 to 3), or its result (4); null: not used.
void bind(Dispatch& d, size_t i, const Tensor* t);

/// The family's shader that combines two sources; a second source in F32 is not named.
std::string_view shader_of_two(const NameParts& family, const Tensor& node);

/// Weights row by row, with blocks of columns: not by tiles.
bool goes_by_rows(const Tensor& product, const DispatchOptions& options) noexcept;
/// MUL_MAT (or MUL_MAT_ID) row by row. kind: of the shader's family, "" or "_two".
Dispatch rows_product(std::string_view kind, const Tensor& product, const DispatchOptions& options);
/// ROPE with its parameters worked out.
Dispatch rope_launch(std::string_view kernel, const Tensor& rope);

} // namespace schedscope::vulkan
