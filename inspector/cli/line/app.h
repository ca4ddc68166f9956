#pragma once

#include "inspector/cli/line/command.h"

namespace schedscope {

/// The program: parses the command line, runs the command, turns every failure into one line on stderr and an exit code (0 done,
/// 1 the answer is no, 2 usage, 3 input, 4 device, memory or output, 130 interrupted).
int run_program(int argc, char** argv);

/// A command, once the command line is understood: does it, and turns what goes wrong into that line. Returns the exit code.
int perform(const CommandAction& action);

} // namespace schedscope
