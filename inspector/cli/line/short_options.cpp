#include "inspector/cli/line/short_options.h"

#include <CLI/CLI.hpp>

#include <array>
#include <string_view>

namespace schedscope {

namespace {

constexpr std::array multi_letter = {std::string_view("-ngl"), std::string_view("-fa"), std::string_view("-ctk"),
                                     std::string_view("-ctv"), std::string_view("-ub"), std::string_view("-bs"),
                                     std::string_view("-ts"),  std::string_view("-ot"), std::string_view("-nkvo"),
                                     std::string_view("-tb"),  std::string_view("-Cr")};

bool takes_value(const CLI::App* command, const std::string& option) {
    if (command == nullptr || option.find('=') != std::string::npos) {
        return false;
    }
    // A short option with its value attached ("-n5") has none behind it.
    if (option.size() > 2 && option[0] == '-' && option[1] != '-') {
        return false;
    }
    const CLI::Option* found = command->get_option_no_throw(option);
    return found != nullptr && found->get_items_expected_min() > 0;
}

} // namespace

std::vector<std::string> lengthen_options(const CLI::App& program, std::vector<std::string> arguments) {
    const CLI::App* command = nullptr;
    bool value = false;
    for (std::string& argument : arguments) {
        if (value) {
            value = false;
            continue;
        }
        if (argument == "--") {
            break;
        }
        if (command == nullptr && !argument.starts_with('-')) {
            for (const CLI::App* candidate : program.get_subcommands({})) {
                if (candidate->get_name() == argument) {
                    command = candidate;
                }
            }
            continue;
        }
        for (const std::string_view option : multi_letter) {
            if (argument == option || argument.starts_with(std::string(option) + "=")) {
                argument.insert(0, "-");
                break;
            }
        }
        value = argument.starts_with('-') && takes_value(command, argument);
    }
    return arguments;
}

std::string shorten_options(std::string help) {
    for (const std::string_view option : multi_letter) {
        const std::string lengthened = "-" + std::string(option);
        for (size_t at = help.find(lengthened); at != std::string::npos; at = help.find(lengthened, at + 1)) {
            const char behind = at + lengthened.size() < help.size() ? help[at + lengthened.size()] : ' ';
            if (behind == ' ' || behind == ',' || behind == '\n' || behind == ':') {
                help.erase(at, 1);
            }
        }
    }
    return help;
}

} // namespace schedscope
