#pragma once

#include "inspector/cli/run_arguments.h"

namespace schedscope {

/// Runs, with a trace if arguments.record names one. Returns the exit code: a trace that could not be written is told after the text is complete.
int run_and_record(const RunArguments& arguments, bool dry_run);

} // namespace schedscope
