#pragma once

#include <functional>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace CLI {
class App;
class Option;
} // namespace CLI

/// How a command says its options, and all that it sees of CLI11: whose header takes longer to compile than a command does.
namespace schedscope {

/// An option or argument that was declared: what else holds for it. Each call returns the same option.
class CommandOption {
public:
    CommandOption() = default; ///< none: it is never given
    explicit CommandOption(CLI::Option& option) noexcept : option_(&option) {}

    CommandOption& required();
    CommandOption& group(const std::string& heading); ///< where the help shows it
    CommandOption& excludes(const CommandOption& other);
    CommandOption& delimiter(char between); ///< of several values in one word
    CommandOption& one_value_each();        ///< several values are several times the option
    CommandOption& show_default();          ///< the help tells what the value is now
    CommandOption& within(int least, int most);
    CommandOption& or_word(const std::string& word, int value); ///< that stands for the value
    CommandOption& one_of(const std::vector<std::string>& choices);
    CommandOption& one_of(const std::vector<int>& choices);
    /// Names a file to write: an empty name (a variable of a script that is not set) is refused, not taken for none.
    CommandOption& names_a_file();
    /// A value is wrong where `complaint` says so; empty: it is right.
    CommandOption& check(std::function<std::string(const std::string& value)> complaint);

    bool given() const; ///< once the command line is parsed

private:
    CLI::Option* option_ = nullptr; ///< the command's; lives as long as the program
};

/// A command, to be given options. A name without a dash is an argument's; names are separated by commas. What stands in `value`
/// is the default; it is filled when the command line is parsed, and has to live until then.
class CommandOptions {
public:
    explicit CommandOptions(CLI::App& command) noexcept : command_(&command) {}

    /// Of the types that options have; a new one is a line in command_options.cpp.
    template <typename T> CommandOption add_option(const std::string& names, T& value, const std::string& help);
    void add_flag(const std::string& names, bool& value, const std::string& help, const std::string& group = {});
    void footer(const std::string& text); ///< of the command's help
    /// The help tells another default of an option that is there.
    void default_text(const std::string& name, const std::string& text);

    /// All names of the first option that was given and is none of these; nothing: there is none.
    bool has_dashes() const; ///< "--" stood on the command line: what is behind it are arguments
    std::optional<std::string> first_given_beside(std::initializer_list<std::string_view> names) const;

private:
    CLI::App* command_; ///< the program's; lives as long as it
};

} // namespace schedscope
