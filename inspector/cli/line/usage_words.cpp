#include "inspector/cli/line/usage_words.h"

#include "inspector/cli/line/command_line.h"
#include "inspector/cli/line/short_options.h"
#include "runtime/system/joined.h"
#include "runtime/system/nearest_words.h"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <string_view>

namespace schedscope {

namespace {

/// With the name that the person typed instead of the option's first long one.
std::string as_typed(const CLI::App& command, const std::vector<std::string>& arguments, std::string what) {
    for (const CLI::Option* option : command.get_options()) {
        const std::string name = option->get_name();
        if (!what.starts_with(name + ":") && !what.starts_with(name + " ")) {
            continue;
        }
        for (const std::string& argument : arguments) {
            const std::string typed = argument.substr(0, argument.find('='));
            if (typed.starts_with('-') && option->check_name(typed)) {
                return what.replace(0, name.size(), typed);
            }
        }
    }
    return what;
}

/// Of a command, or of the program: "; did you mean --top-k?"
std::string meant_option(const CLI::App& command, const std::string& argument) {
    std::vector<std::string> names;
    for (const CLI::Option* option : command.get_options()) {
        for (const std::string& name : option->get_lnames()) {
            names.push_back(shorten_options("--" + name));
        }
    }
    const std::vector<std::string_view> known(names.begin(), names.end());
    const std::string typed = shorten_options(argument.substr(0, argument.find('=')));
    // What is shown is a question to one command and a view to another.
    const std::string_view other = typed == "--what" ? "--view" : typed == "--view" ? "--what" : "";
    if (std::find(known.begin(), known.end(), other) != known.end()) {
        return "; did you mean " + std::string(other) + "?";
    }
    return typed.starts_with("--") ? did_you_mean(known, typed) : "";
}

/// CLI11 names them from the last to the first.
std::string unexpected(const CLI::App& command, const std::vector<std::string>& arguments, std::vector<std::string> left) {
    for (const std::string& argument : left) {
        if (const std::string meant = meant_option(command, argument); !meant.empty()) {
            return "there is no option " + argument.substr(0, argument.find('=')) + meant;
        }
    }
    std::string what = left.size() == 1 ? "an argument was not expected:" : "these arguments were not expected:";
    for (const std::string& argument : arguments) {
        if (const auto found = std::find(left.begin(), left.end(), argument); found != left.end()) {
            what += ' ' + argument;
            left.erase(found);
        }
    }
    return what;
}

/// The text between two marks; to the end where there is no second one.
std::string_view between(std::string_view text, std::string_view before, std::string_view behind) {
    const size_t at = text.find(before);
    return at == std::string_view::npos ? ""
                                        : text.substr(at + before.size()).substr(0, text.substr(at + before.size()).find(behind));
}

/// "a,b,c" → "a, b or c"
std::string listed(std::string_view choices) {
    std::string text;
    for (size_t comma = choices.find(','); comma != std::string_view::npos; comma = choices.find(',')) {
        text.append(text.empty() ? "" : ", ").append(choices.substr(0, comma));
        choices.remove_prefix(comma + 1);
    }
    return text.append(text.empty() ? "" : " or ").append(choices);
}

std::string number_kind(const CLI::App& command, std::string_view option_name) {
    const CLI::Option* const option = command.get_option_no_throw(std::string(option_name));
    const std::string type = option == nullptr ? "" : option->get_type_name();
    return type.starts_with("FLOAT") ? "a number" : type.starts_with("UINT") ? "a whole number from 0" : "a whole number";
}

/// A value that can't be, and what is wanted: CLI11 says "Could not convert: NAME = VALUE", "NAME: Value VALUE not in range LEAST
/// to MOST" and "NAME: VALUE not in {A,B}". Anything else as it is.
std::string wanted(const CLI::App& command, const std::string& what) {
    const std::string_view text = what;
    if (text.starts_with("Could not convert: ")) {
        const std::string_view name = between(text, ": ", " = "), value = between(text, " = ", "\n");
        return std::string(name) + " " + std::string(value) + ": " + number_kind(command, name) + " is wanted";
    }
    const std::string_view name = text.substr(0, text.find(": "));
    if (const std::string_view range = between(text, " not in range ", "\n"); !range.empty()) {
        return std::string(name) + " " + std::string(between(text, ": Value ", " not in range ")) + ": " +
               number_kind(command, name) + " from " + std::string(range) + " is wanted";
    }
    if (const std::string_view choices = between(text, " not in {", "}"); !choices.empty()) {
        return std::string(name) + " " + std::string(between(text, ": ", " not in {")) + ": " + listed(choices) + " is wanted";
    }
    return what;
}

/// Of an option that was given several times and is wanted once: what to write instead.
std::string repeated(const CLI::App& command, const std::string& name) {
    const CLI::Option* const option = command.get_option_no_throw(name);
    if (option == nullptr) {
        return name + " is wanted once";
    }
    const std::vector<std::string>& values = option->results();
    std::string text = name + ": given " + std::to_string(values.size()) + " times, ";
    return is_comma_list(*option) ? text + "where one list is wanted: " + name + " " + joined(values, ",")
                                  : text + "where one value is wanted";
}

} // namespace

std::string usage_words(const CLI::App& program, const std::vector<std::string>& arguments, const CLI::ParseError& error) {
    const auto chosen = program.get_subcommands();
    std::string what = error.what();
    what = what.substr(0, what.find('\n'));
    if (dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr) {
        what = unexpected(chosen.empty() ? program : *chosen.front(), arguments, program.remaining(true));
    } else if (const auto* missing = dynamic_cast<const CLI::ArgumentMismatch*>(&error);
               missing != nullptr && what.ends_with(" missing")) {
        what = what.substr(0, what.find(':')) + ": its value is missing";
    } else if (constexpr std::string_view given = " was given a disallowed flag override";
               missing != nullptr && what.ends_with(given)) {
        const std::string name = what.substr(0, what.size() - given.size()); // without its dashes
        what = (name.size() == 1 ? "-" : "--") + name + ": it takes no value";
    } else if (missing != nullptr && !chosen.empty() && what.find(": At Most 1 required") != std::string::npos) {
        what = repeated(*chosen.front(), what.substr(0, what.find(':')));
    } else if (!chosen.empty()) {
        what = wanted(*chosen.front(), what);
    }
    what = shorten_options(chosen.empty() ? what : as_typed(*chosen.front(), arguments, what));
    if (chosen.empty() && !arguments.empty()) {
        const std::string& first = arguments.front();
        if (!first.starts_with('-')) {
            std::vector<std::string> names;
            for (const CLI::App* command : program.get_subcommands({})) {
                names.push_back(command->get_name());
            }
            const std::vector<std::string_view> known(names.begin(), names.end());
            what = "there is no command " + first + did_you_mean(known, first);
        } else if (const std::string meant = meant_option(program, first); !meant.empty()) {
            what = "there is no option " + first + meant;
        }
    }
    const std::string help = chosen.empty() ? "schedscope --help" : "schedscope " + chosen.front()->get_name() + " --help";
    return what + " (see " + help + ")";
}

} // namespace schedscope
