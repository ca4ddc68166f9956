#pragma once

#include "inspector/cli/attach/launched_program.h"

namespace schedscope {

/// Runs any program on ggml and records what its schedulers decide. Returns its exit code; 4 where it exited with 0 and nothing
/// was recorded, or the trace could not be written.
int record_program(const ProgramRecording& recording);

/// How often a stream is looked at whose program goes at its own speed.
constexpr int look_up_ms = 10;

/// What `-o` says of a trace of another program: it is made, if it may be. Throws Error.
void check_trace(const ProgramRecording& recording);
/// "wrote x.trace: 12 evaluations", behind the sentences there are to say of it.
void tell_of_trace(const std::string& trace, const ProgramStream& stream, const std::vector<std::string>& notes);

} // namespace schedscope
