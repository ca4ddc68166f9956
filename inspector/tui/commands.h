#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace schedscope::tui {

/// What stands behind a command's name; Tab completes it.
enum class Argument : uint8_t { none, number, pass, view, tensor, query, column, what_if, letter, file, picture, setting };

/// A command of ':'. Besides these, every action of the keys is one under its name (keys.h).
struct Command {
    const char* name;
    Argument argument;
    bool optional;       ///< the argument may be left out
    const char* takes;   ///< the argument, for people: "QUERY"; "" for none
    const char* help;    ///< what it does
    bool writes = false; ///< "name!" overwrites a file that is there
};

std::span<const Command> commands() noexcept;

/// The command that a word calls: by its name, or by a beginning of it; null: none. Names of actions are not looked at.
const Command* command_named(std::string_view word) noexcept;

/// "step 12" → {"step", "12"}, "write! a.txt " → {"write", "a.txt", insisting}.
struct CommandLine {
    std::string name, argument;
    bool insisting = false;
};
CommandLine split_command(std::string_view text);

} // namespace schedscope::tui
