#pragma once

#include "runtime/planner/graph_view.h"

namespace schedscope {

/// As recorded; of a cache without a recorded part by its name: "cache_k_l3".
Role role_of(const TensorInfo& t) noexcept;

/// What a node is that llama.cpp itself gives a backend, by the name that it has there: "norm-3" a norm, "kqv_out-3" what comes
/// out of attention. none: it leaves it to the scheduler.
Role pinned_role_by_name(const TensorInfo& node) noexcept;

} // namespace schedscope
