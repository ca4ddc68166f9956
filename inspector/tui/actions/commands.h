#pragma once

#include "inspector/tui/input/completion.h"

#include <span>
#include <string>
#include <string_view>

namespace schedscope::tui {

class App;

/// "step 12" → {"step", "12"}, "write! a.txt " → {"write", "a.txt", insisting}.
struct ColonLine {
    std::string name, argument;
    bool insisting = false;
};
ColonLine split_command(std::string_view text);

/// A command of ':': a line of the table in commands.cpp. Besides these, every action of the keys is one under its name (keys.h).
struct ColonCommand {
    const char* name;
    const char* takes;                                           ///< the argument, for people: "QUERY"; "" for none
    bool optional;                                               ///< the argument may be left out
    Completion (Completions::*complete)(std::string_view typed); ///< what Tab offers for the argument; null: nothing
    void (*run)(App&, const ColonLine&);
    const char* help; ///< what it does
};
std::span<const ColonCommand> commands() noexcept;

/// The command that a word calls: by its name, or by a beginning of it; null: none. Names of actions are not looked at.
const ColonCommand* command_named(std::string_view word) noexcept;

/// The line of ':' is typed.
void ask_command(App& app);
/// Does what a line says, or tells what is wrong with it.
void run_command(App& app, const std::string& text);

} // namespace schedscope::tui
