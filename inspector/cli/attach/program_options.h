#pragma once

#include "inspector/cli/attach/launched_program.h"
#include "inspector/cli/line/command_options.h"

namespace schedscope {

/// The argument behind "--" and the options that go with it: of all commands that start another program.
void add_program_options(CommandOptions& app, ProgramRecording& recording);
/// What such a command takes beside them goes with our own runs. Throws Error(usage): of `app`, an option but those named here.
void refuse_options_of_a_run(const CommandOptions& app, const ProgramRecording& recording);

} // namespace schedscope
