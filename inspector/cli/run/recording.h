#pragma once

#include "inspector/cli/run/run_arguments.h"
#include "traces/store/writer.h"

#include <memory>

namespace schedscope {

/// What writes the trace that arguments.record names; null: none is wanted. Throws Error(usage) when the file may not be
/// replaced, as check_output does.
std::unique_ptr<TraceWriter> make_writer(const RunArguments& arguments);

/// Runs, with a trace if arguments.record names one. Returns the exit code: a trace that could not be written is told after the
/// text is complete.
int run_and_record(const RunArguments& arguments, bool dry_run);

} // namespace schedscope
