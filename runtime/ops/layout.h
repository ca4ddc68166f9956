#pragma once

#include "runtime/ops/op.h"
#include "runtime/ops/type.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

namespace schedscope {

using TensorId = int32_t; ///< dense within a graph: 0 … n_tensors − 1
constexpr TensorId no_tensor = -1;

constexpr int max_dims = 4;
constexpr int max_sources = 10;
constexpr int max_params = 16;

using Shape = std::array<int64_t, max_dims>;  ///< elements; unused dimensions are 1; [0] is the row
using Strides = std::array<size_t, max_dims>; ///< bytes from one element (block, if quantised) to the next per dimension
using Params = std::array<int32_t, max_params>;

/// flag_watched: an observer reads the tensor's values as soon as it was computed, so it may end a fused group but not lie inside
/// one. Set between pass 5 and Backend::optimise, for this plan only; never part of what the planner sees or a trace keeps.
enum TensorFlags : uint8_t { flag_input = 1, flag_output = 2, flag_param = 4, flag_loss = 8, flag_watched = 16 };

/// What a buffer is for; the scheduler looks only at `weights`.
enum class BufferUsage : uint8_t { any, weights, compute };

/// Strides of a contiguous tensor.
Strides contiguous_strides(Type type, const Shape& ne) noexcept;

/// Bytes from the first to the last element, strides included.
size_t n_bytes(Type type, const Shape& ne, const Strides& nb) noexcept;

/// Shape as people write it: "[64, 16]", trailing ones left out.
std::string shape_text(const Shape& ne);

} // namespace schedscope
