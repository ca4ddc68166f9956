#pragma once

#include "inspector/cli/line/command_line.h"

#include <functional>
#include <iosfwd>
#include <string>

namespace schedscope {

/// schedscope(1) in the language of man(7): commands and options from the definitions that parse them, so that it can't tell
/// anything else than `--help`.
void write_manual(const CommandLine& line, const std::string& version, std::ostream& out);
/// schedscope-COMMAND(1)
void write_command_page(const CommandText& command, const std::string& version, std::ostream& out);

/// All pages, each with its path below a folder of man pages: "man1/schedscope-show.1", "man7/schedscope-rules.7".
using ManPageFile = std::function<void(const std::string& path, const std::function<void(std::ostream&)>& write)>;
void write_man_pages(const CommandLine& line, const std::string& version, const ManPageFile& file);

} // namespace schedscope
