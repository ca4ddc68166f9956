#pragma once

#include <string>
#include <utility>
#include <vector>

namespace CLI {
class App;
class Option;
} // namespace CLI

namespace schedscope {

/// What may stand where an option, or an argument, wants a value.
struct ValueText {
    enum class Kind { any, file, choice, devices };
    Kind kind = Kind::any;
    std::string name;                  ///< as people read it: "FILE", "on|off|auto"; empty: there is none
    std::vector<std::string> suffixes; ///< of files: "trace"; none: any file
    std::vector<std::string> choices;
    /// Choices that depend on an argument of the command: its value, and what may then be chosen.
    std::vector<std::pair<std::string, std::vector<std::string>>> choices_by_argument;
};

/// An option as people type it, or an argument of the command.
struct OptionText {
    std::vector<std::string> names; ///< "-n", "--predict"; an argument has none
    ValueText value;
    std::string description, group, by_default;
    bool required = false, repeats = false;

    bool is_argument() const noexcept { return names.empty(); }
};

struct CommandText {
    std::string name, summary, footer;
    std::vector<OptionText> arguments, options;
};

/// The command line as data, from the definitions that parse it: what the manual page and the completions are made of.
struct CommandLine {
    std::vector<OptionText> options; ///< of the program itself
    std::vector<CommandText> commands;
};
CommandLine describe_command_line(const CLI::App& program);

/// Several values of it go in one text, with commas between them.
bool is_comma_list(const CLI::Option& option);

/// Tells the program's options what their values are ("GGUF", "DEVICES"): the help shows it, completions know by it what goes
/// there.
void name_values(CLI::App& program);

} // namespace schedscope
