#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace schedscope {

/// A compute shader built into the program.
struct ShaderModule {
    std::string_view name; ///< "mul_mat_vec_q8_0"
    const uint32_t* spirv;
    size_t bytes;
    std::array<uint32_t, 2> types = {}; ///< specialization constants 3 and 4, where one SPIR-V is for several types
};

/// All of them: shaders/CMakeLists.txt is the list.
std::span<const ShaderModule> shader_modules() noexcept;

/// What UNARY and GLU can do in shaders, by the catalogue's names: the cases of parts/functions.glsl and elementwise/glu.comp.
std::span<const std::string_view> shader_functions() noexcept;
std::span<const std::string_view> shader_gates() noexcept;

} // namespace schedscope
