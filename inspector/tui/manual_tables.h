#pragma once

#include "inspector/manual/manual.h"

namespace schedscope::tui {

/// A table of the program as the manual shows it: "keys", "mouse", "commands", "views", "settings", "fields", "signs", "units",
/// "rules", "what-if", "limits", "exit-codes". Throws Error(usage): there is no such table.
std::vector<manual::TableRow> manual_table(std::string_view name);

} // namespace schedscope::tui
