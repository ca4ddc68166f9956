#pragma once

#include "inspector/cli/run/run_arguments.h"

namespace schedscope {

/// Runs the model on a thread of its own, held at its first record, with the inspector in front (and the trace behind, if
/// arguments.record names one). When the user quits the run is cancelled; what was generated until then is printed. Returns the
/// exit code. Throws Error.
int run_live(const RunArguments& arguments);

} // namespace schedscope
