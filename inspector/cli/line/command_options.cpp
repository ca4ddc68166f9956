#include "inspector/cli/line/command_options.h"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <cstdint>

namespace schedscope {

CommandOption& CommandOption::required() { return option_->required(), *this; }
CommandOption& CommandOption::group(const std::string& heading) { return option_->group(heading), *this; }
CommandOption& CommandOption::excludes(const CommandOption& other) { return option_->excludes(other.option_), *this; }
CommandOption& CommandOption::delimiter(char between) { return option_->delimiter(between), *this; }
CommandOption& CommandOption::one_value_each() { return option_->allow_extra_args(false), *this; }
CommandOption& CommandOption::show_default() { return option_->capture_default_str(), *this; }
CommandOption& CommandOption::within(int least, int most) { return option_->check(CLI::Range(least, most)), *this; }
CommandOption& CommandOption::or_word(const std::string& word, int value) {
    return option_->transform([=](const std::string& given) { return given == word ? std::to_string(value) : given; }), *this;
}
CommandOption& CommandOption::one_of(const std::vector<std::string>& choices) {
    return option_->check(CLI::IsMember(choices)), *this;
}
CommandOption& CommandOption::one_of(const std::vector<int>& choices) { return option_->check(CLI::IsMember(choices)), *this; }

CommandOption& CommandOption::names_a_file() {
    return check([](const std::string& name) { return name.empty() ? "the name of a file is missing" : ""; });
}

CommandOption& CommandOption::check(std::function<std::string(const std::string& value)> complaint) {
    return option_->check(CLI::Validator(std::move(complaint), "")), *this;
}

bool CommandOption::given() const { return option_ != nullptr && option_->count() > 0; }

template <typename T> CommandOption CommandOptions::add_option(const std::string& names, T& value, const std::string& help) {
    return CommandOption(*command_->add_option(names, value, help));
}

template CommandOption CommandOptions::add_option(const std::string&, std::string&, const std::string&);
template CommandOption CommandOptions::add_option(const std::string&, int32_t&, const std::string&);
template CommandOption CommandOptions::add_option(const std::string&, int64_t&, const std::string&);
template CommandOption CommandOptions::add_option(const std::string&, uint32_t&, const std::string&);
template CommandOption CommandOptions::add_option(const std::string&, uint64_t&, const std::string&);
template CommandOption CommandOptions::add_option(const std::string&, std::vector<std::string>&, const std::string&);
template CommandOption CommandOptions::add_option(const std::string&, std::vector<int32_t>&, const std::string&);
template CommandOption CommandOptions::add_option(const std::string&, std::vector<float>&, const std::string&);
template CommandOption CommandOptions::add_option(const std::string&, std::optional<int32_t>&, const std::string&);
template CommandOption CommandOptions::add_option(const std::string&, std::optional<int64_t>&, const std::string&);
template CommandOption CommandOptions::add_option(const std::string&, std::optional<float>&, const std::string&);

void CommandOptions::add_flag(const std::string& names, bool& value, const std::string& help, const std::string& group) {
    CLI::Option* const flag = command_->add_flag(names, value, help);
    flag->disable_flag_override(); // --name=no would be taken for the opposite of what it says, or for nothing
    if (!group.empty()) {
        flag->group(group);
    }
}

void CommandOptions::footer(const std::string& text) { command_->footer(text); }

void CommandOptions::default_text(const std::string& name, const std::string& text) {
    command_->get_option(name)->default_str(text);
}

std::optional<std::string> CommandOptions::first_given_beside(std::initializer_list<std::string_view> names) const {
    for (const CLI::Option* option : command_->get_options()) {
        if (option->count() > 0 && std::find(names.begin(), names.end(), option->get_name()) == names.end()) {
            return option->get_name(false, true);
        }
    }
    return std::nullopt;
}

bool CommandOptions::has_dashes() const {
    const std::vector<std::string> left = command_->remaining();
    return std::find(left.begin(), left.end(), "--") != left.end();
}

} // namespace schedscope
