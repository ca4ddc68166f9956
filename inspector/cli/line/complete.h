#pragma once

#include "inspector/cli/line/command_line.h"

#include <iosfwd>
#include <string>
#include <vector>

namespace schedscope {

/// What may stand in place of the last of some words, the program's name left out: what shells ask for with `schedscope
/// --complete WORD…` (completions/). A line for each, behind a tab what it means; the line ":files SUFFIX…" stands for the names
/// of such files (of all, without suffixes), which the shell finds.
void complete(const CommandLine& line, const std::vector<std::string>& words, std::ostream& out);

} // namespace schedscope
