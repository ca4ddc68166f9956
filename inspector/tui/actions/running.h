#pragma once

#include "inspector/tui/app.h"

#include <string>

namespace schedscope::tui {

// Breakpoints, and going on to the next one: through what is recorded, or with the running program.

void ask_breakpoint(App& app);
/// A query on records; "": shows which there are.
void add_breakpoint(App& app, const std::string& text);
/// Takes one away by its number in the list; "": all.
void take_breakpoint_away(App& app, const std::string& number);
/// All of them on a page, each to be enabled, disabled or deleted.
void show_breakpoints(App& app);
/// What the selected line of that page is about: enabled if it is disabled, else disabled; deleted.
void turn_breakpoint(App& app);
void delete_breakpoint(App& app);
/// On to the next record that one matches, or back to one. A program that is held where the record ends runs on to it.
void resume(App& app, bool forward);
/// The running program stops at its next record.
void hold(App& app);

// Why that can't be now; empty: it can.
std::string no_breakpoint(const App& app); ///< to go on to
std::string no_breakpoint_selected(const App& app);
std::string cannot_resume(const App& app);
std::string cannot_hold(const App& app);

} // namespace schedscope::tui
