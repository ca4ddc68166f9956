#pragma once

#include "inspector/cli/line/command_options.h"

#include <functional>
#include <span>

namespace schedscope {

/// What a command does once its options are parsed; the result is the exit code. Throws Error.
using CommandAction = std::function<int()>;

/// One command of the program. `add` gives the subcommand its options and returns what it does.
struct Command {
    const char* name;
    const char* summary;
    CommandAction (*add)(CommandOptions& options);
};

/// All commands, in the order of the help text. A new one is a file cmd_NAME.cpp and a line in commands.cpp.
std::span<const Command> commands();

} // namespace schedscope
