#pragma once

#include "inspector/tui/input/keys.h"

#include <string>

namespace schedscope::tui {

class App;

// What an action of the keys (keys.h) does: a line of the table in actions.cpp.

/// Why it can't work now; empty: it can.
std::string why_not(const App& app, Action action);
/// Does it, or tells why it can't work.
void perform(App& app, Action action);

} // namespace schedscope::tui
