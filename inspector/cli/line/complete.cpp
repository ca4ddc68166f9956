#include "inspector/cli/line/complete.h"

#include "runtime/backend/registry.h"
#include "runtime/letter_case.h"

#include <algorithm>
#include <ostream>

namespace schedscope {

namespace {

const OptionText* find_option(const std::vector<OptionText>& options, const std::string& name) {
    const auto found = std::find_if(options.begin(), options.end(), [&](const OptionText& o) {
        return std::find(o.names.begin(), o.names.end(), name) != o.names.end();
    });
    return found == options.end() ? nullptr : &*found;
}

/// Some shells take a word apart at its equals signs; here it is one again. What was typed after an option's sign is its value.
std::vector<std::string> put_together(const std::vector<std::string>& words) {
    std::vector<std::string> whole;
    for (size_t i = 0; i < words.size(); ++i) {
        if (words[i] == "=" && !whole.empty()) {
            whole.back() += "=";
            if (i + 1 < words.size()) {
                whole.back() += words[++i];
            }
        } else {
            whole.push_back(words[i]);
        }
    }
    return whole;
}

/// Where a command line stands behind its command.
struct CommandPlace {
    const OptionText* wants_value = nullptr; ///< of this option
    std::vector<std::string> arguments;      ///< given before
    std::vector<std::string> options;        ///< given before
    bool only_arguments = false;             ///< behind "--"
};

CommandPlace place_behind(const CommandText& command, const std::vector<std::string>& words, size_t first) {
    CommandPlace place;
    for (size_t i = first; i + 1 < words.size(); ++i) {
        const std::string& word = words[i];
        if (place.wants_value != nullptr) {
            place.wants_value = nullptr;
        } else if (word == "--" && !place.only_arguments) {
            place.only_arguments = true;
        } else if (place.only_arguments || !word.starts_with('-')) {
            place.arguments.push_back(word);
        } else {
            const size_t equals = word.find('=');
            const OptionText* option = find_option(command.options, word.substr(0, equals));
            place.options.push_back(word.substr(0, equals));
            if (option != nullptr && !option->value.name.empty() && equals == std::string::npos) {
                place.wants_value = option;
            }
        }
    }
    return place;
}

class LineCompleter {
public:
    LineCompleter(const CommandLine& line, std::ostream& out) : line_(line), out_(out) {}

    void complete(const std::vector<std::string>& words) {
        current_ = words.back();
        const auto named = std::find_if(words.begin(), words.end() - 1, [](const std::string& w) { return !w.starts_with('-'); });
        if (named == words.end() - 1) {
            for (const CommandText& command : line_.commands) {
                offer(command.name, command.summary);
            }
            offer_options(line_.options, {});
            return;
        }
        for (const CommandText& command : line_.commands) {
            if (command.name == *named) {
                behind(command, place_behind(command, words, static_cast<size_t>(named - words.begin()) + 1));
            }
        }
    }

private:
    void behind(const CommandText& command, const CommandPlace& place) {
        if (place.wants_value != nullptr) {
            offer_values(place.wants_value->value, place);
            return;
        }
        const size_t equals = current_.find('=');
        if (!place.only_arguments && current_.starts_with('-') && equals != std::string::npos) {
            if (const OptionText* option = find_option(command.options, current_.substr(0, equals))) {
                before_ = current_.substr(0, equals + 1);
                current_.erase(0, equals + 1);
                offer_values(option->value, place);
            }
            return;
        }
        const bool has_argument = place.arguments.size() < command.arguments.size();
        if (has_argument && !current_.starts_with('-')) {
            offer_values(command.arguments[place.arguments.size()].value, place);
        }
        if (!place.only_arguments && (current_.starts_with('-') || !has_argument)) {
            offer_options(command.options, place.options);
        }
    }

    void offer(const std::string& text, const std::string& meaning = "") {
        if (text.starts_with(current_)) {
            out_ << before_ << text << (meaning.empty() ? "" : "\t") << meaning << '\n';
        }
    }

    /// Those that were not given yet; each by its last name, the long one, and by those that begin as what was typed.
    void offer_options(const std::vector<OptionText>& options, const std::vector<std::string>& given) {
        for (const OptionText& option : options) {
            const bool was_given = std::any_of(option.names.begin(), option.names.end(), [&](const std::string& name) {
                return std::find(given.begin(), given.end(), name) != given.end();
            });
            if (was_given && !option.repeats) {
                continue;
            }
            for (const std::string& name : option.names) {
                if (current_.starts_with('-') || name == option.names.back()) {
                    offer(name, option.description);
                }
            }
        }
    }

    void offer_values(const ValueText& value, const CommandPlace& place) {
        switch (value.kind) {
        case ValueText::Kind::any: break;
        case ValueText::Kind::file:
            out_ << ":files";
            for (const std::string& suffix : value.suffixes) {
                out_ << ' ' << suffix;
            }
            out_ << '\n';
            break;
        case ValueText::Kind::choice:
            for (const std::string& choice : value.choices) {
                offer(choice);
            }
            for (const auto& [argument, choices] : value.choices_by_argument) {
                if (!place.arguments.empty() && place.arguments.front() == argument) {
                    for (const std::string& choice : choices) {
                        offer(choice);
                    }
                }
            }
            break;
        case ValueText::Kind::devices: offer_devices(); break;
        }
    }

    /// A list by priority: each device once, what is behind the last comma is being typed.
    void offer_devices() {
        const size_t comma = current_.rfind(',');
        const std::string list = comma == std::string::npos ? "" : current_.substr(0, comma + 1);
        const Registry registry;
        for (const auto& device : registry.devices()) {
            const std::string name = lower(device->name());
            if (("," + list).find("," + name + ",") == std::string::npos) {
                offer(list + name, device->description());
            }
        }
    }

    const CommandLine& line_;
    std::ostream& out_;
    std::string current_; ///< what is being typed
    std::string before_;  ///< what stands in front of it in the same word
};

} // namespace

void complete(const CommandLine& line, const std::vector<std::string>& words, std::ostream& out) {
    std::vector<std::string> whole = put_together(words);
    if (whole.empty()) {
        whole.emplace_back();
    }
    LineCompleter(line, out).complete(whole);
}

} // namespace schedscope
