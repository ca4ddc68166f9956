#pragma once

#include "inspector/cli/attach/launched_program.h"

namespace schedscope {

/// Runs any program on ggml with the inspector in front: what it schedules is seen as it runs, and it is stepped. What it writes
/// is seen there, too, and once more when all is over. Returns its exit code, as record_program does; a user who quits while it
/// runs ends it.
int inspect_program(const ProgramRecording& recording);

} // namespace schedscope
