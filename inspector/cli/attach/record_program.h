#pragma once

#include "inspector/cli/run/recording_bounds.h"

#include <string>
#include <vector>

namespace schedscope {

struct ProgramRecording {
    std::vector<std::string> command; ///< the program and its arguments
    std::string trace;
    bool force = false, no_text = false;
    bool sync = false;     ///< exact times of splits
    bool children = false; ///< the first process with a scheduler is recorded, whichever the program starts
    BoundArguments bounds;
};

/// Runs any program on ggml and records what its schedulers decide. Returns its exit code; 4 where it exited with 0 and nothing
/// was recorded, or the trace could not be written.
int record_program(const ProgramRecording& recording);

} // namespace schedscope
