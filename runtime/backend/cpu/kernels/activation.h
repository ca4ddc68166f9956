#pragma once

#include "runtime/backend/cpu/vectors/vector_ops.h"
#include "runtime/ops/op.h"

#include <cstdint>

namespace schedscope::cpu {

/// out = function(in) for n floats; out may be in itself. XIELU is not known.
void activate(UnaryOp function, const VectorOps& vector, const float* in, float* out, int64_t n);
/// out = function(x) × up for n floats; out may be x or up itself. SWIGLU_OAI is not known.
void gate(GluOp function, const VectorOps& vector, const float* x, const float* up, float* out, int64_t n);

} // namespace schedscope::cpu
