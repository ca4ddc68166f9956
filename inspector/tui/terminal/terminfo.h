#pragma once

#include <string>

namespace schedscope::tui {

/// Reads the description of a terminal type; false when there is none.
bool load_terminfo(const char* type);
/// What was loaded goes; from then on capabilities are those of the screen that curses made, which has a description of its own.
void forget_terminfo();
/// A text capability of the loaded type by its short name ("cup", "rmcup"); empty when it has none.
std::string capability(const char* name);
/// Does the type take colours as red, green and blue (its extension "RGB", whatever its kind)?
bool has_direct_colour();

} // namespace schedscope::tui
