#pragma once

#include "runtime/ops/type.h"
#include "runtime/tensor/half.h"

#include <cstdint>

namespace schedscope {

/// A row of n elements (a multiple of the block) to floats. False if the type can't be expanded (integers can't).
bool row_to_float(Type type, const void* row, float* out, int64_t n) noexcept;

/// Floats to a row of the type. F16, BF16, Q*_0, Q*_1, MXFP4 and TQ*_0 exactly as ggml's reference does it; the K and IQ4 types
/// with scales found more simply. False if the type can't be written: integers, and the IQ1 to IQ3 types.
bool row_from_float(Type type, const float* in, void* row, int64_t n) noexcept;

/// Makes a row of any bytes one of blocks with this scale, of the types that floats can't be quantised to. False if it is another
/// type.
bool set_scales(Type type, float scale, void* row, int64_t n) noexcept;

/// The types the first two know.
bool can_expand(Type type) noexcept;
bool can_quantise(Type type) noexcept;

} // namespace schedscope
