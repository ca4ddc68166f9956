#pragma once

#include "runtime/system/process/sandbox.h"

/// What children.cpp plays: `--attempt KIND memory|files WHAT` closes a sandbox and then does WHAT.
///
///   KIND  sandbox, or memory where its limit is what counts; seccomp or Landlock alone; no filters; old kernel, which has
///   neither
namespace schedscope::test {

constexpr SandboxLimits child_limits{64 << 20, 1, 1 << 20};

/// Exit codes of an attempt. `was_refused`: the error is on standard error.
constexpr int went_through = 0, was_refused = 1, not_in_force = 77;

} // namespace schedscope::test
