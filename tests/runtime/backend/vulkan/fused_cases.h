#pragma once

#include "tests/runtime/backend/ops/op_cases.h"

#include <string_view>
#include <vector>

namespace schedscope::test {

/// Nodes that a backend may run as one kernel, the graph's last node among them.
struct FusedCase {
    std::string_view kernel; ///< FusionGroup::kernel
    OpCase nodes;            ///< op: of the first of them
    int64_t columns = 1;     ///< of a product: some kernels take few
};

/// Every fused kernel over shapes, layouts, repetition, types and functions.
std::vector<FusedCase> fused_cases();

} // namespace schedscope::test
