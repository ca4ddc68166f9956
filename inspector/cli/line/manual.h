#pragma once

#include "inspector/cli/line/command_line.h"

#include <iosfwd>
#include <string>

namespace schedscope {

/// schedscope(1) in the language of man(7): commands and options from the definitions that parse them, so that it can't tell
/// anything else than `--help`.
void write_manual(const CommandLine& line, const std::string& version, std::ostream& out);

} // namespace schedscope
