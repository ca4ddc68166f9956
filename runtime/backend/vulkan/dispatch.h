#pragma once

#include "runtime/tensor/tensor.h"

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace schedscope::vulkan {

/// A node as the shaders see it: the struct Node of shaders/parts/common.glsl, byte for byte.
struct ShaderLayout {
    std::array<uint32_t, 4> ne{}, nb{};
    uint32_t offset = 0; ///< bytes into the binding
};
struct ShaderNode {
    std::array<ShaderLayout, 5> t{}; ///< sources 0 to 3, the result
    std::array<int32_t, 16> p{};
    std::array<int32_t, 3> extra{};
};
static_assert(sizeof(ShaderNode) == 256);

/// One launch of a shader.
struct Dispatch {
    std::string_view kernel; ///< constant of the program; the shader's name
    ShaderNode node;
    std::array<const Tensor*, 5> bound{}; ///< the tensors behind bindings 1 to 5; null: not used
    std::array<const Tensor*, 5>
        more{}; ///< sources 4 to 8, of shaders that take more: behind bindings 6 to 10, their layouts in the next record
    size_t n_more = 0;
    uint32_t groups = 0;
    uint32_t variant = 1;    ///< specialization constant 1, where the shader has one: columns, queries, form
    uint32_t afterwards = 0; ///< specialization constant 2 of products row by row: what follows in a fused kernel
};

struct DispatchOptions {
    /// For software drivers, where a barrier or an access of memory costs as much as a hundred multiplications: products without
    /// tiles, each invocation with a row of its own.
    bool row_per_invocation = false;
    uint32_t group = 128;        ///< invocations in a workgroup of the shaders that reduce rows
    int64_t groups_wanted = 128; ///< workgroups that keep the device busy
    size_t most_sources = 4;     ///< of one launch
};

ShaderLayout layout_of(const Tensor& t);

/// How a node is run: usually one launch. Appended to `out`; nothing for leafs and views. The node must be supported
/// (vulkan_supports_op).
void append_dispatches(const Tensor& node, const DispatchOptions& options, std::vector<Dispatch>& out);

} // namespace schedscope::vulkan
