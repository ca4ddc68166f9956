#pragma once

#include "runtime/backend/cpu/vectors/vector_ops.h"
#include "runtime/ops/op.h"

#include <cstdint>

namespace schedscope::cpu {

// One that is not known counts as had: whoever plans an imported log does not refuse what the log left out.
bool has_activation(UnaryOp function) noexcept;
bool has_gate(GluOp function) noexcept;

/// out = function(in) for n floats; out may be in itself. The CPU has the function.
void activate(UnaryOp function, const VectorOps& vector, const float* in, float* out, int64_t n);
/// out = function(x) × up for n floats; out may be x or up itself. The CPU has the gate.
void gate(GluOp function, const VectorOps& vector, const float* x, const float* up, float* out, int64_t n);

} // namespace schedscope::cpu
