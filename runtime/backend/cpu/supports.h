#pragma once

#include "runtime/planner/answer.h"
#include "runtime/tensor/tensor.h"

namespace schedscope::cpu {

/// Which operators the CPU runs, with which types and layouts. One function for all: it is the last backend, so a no here means no plan.
Answer supports_op(const Tensor& node);

} // namespace schedscope::cpu
