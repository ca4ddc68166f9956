#pragma once

#include "runtime/backend/backend.h"

namespace schedscope {

/// Finds RMS_NORM nodes directly followed by the MUL that is the only reader of their result and fills split.groups ("rms_norm_mul") and
/// split.not_fused (with why: "used elsewhere", "output", "watched", "shapes", "types"). For backends that have that kernel.
void find_norm_groups(SplitGraph& split);

/// May a fused norm write its result while it still reads its source? True when result and source are the same place or do not overlap.
bool norm_group_is_safe(const Tensor& norm, const Tensor& product) noexcept;

} // namespace schedscope
