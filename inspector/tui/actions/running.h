#pragma once

#include "inspector/tui/app.h"

#include <string>

namespace schedscope::tui {

// The breakpoint, and going on to it: through what is recorded, or with the running program.

void ask_breakpoint(App& app);
/// A query on records; "": none.
void set_breakpoint(App& app, const std::string& text);
/// On to the next record that it matches, or back to one. A program that is held where the record ends runs on to it.
void resume(App& app, bool forward);
/// The running program stops at its next record.
void hold(App& app);

// Why that can't be now; empty: it can.
std::string no_breakpoint(const App& app);
std::string cannot_resume(const App& app);
std::string cannot_hold(const App& app);

} // namespace schedscope::tui
