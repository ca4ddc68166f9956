#include "inspector/tui/state/settings.h"

#include "inspector/tui/state/user_files.h"
#include "runtime/error.h"
#include "runtime/numbers.h"
#include "runtime/system/joined.h"
#include "runtime/system/read_number.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <optional>

namespace schedscope::tui {
namespace {

constexpr std::array<SettingEntry, 10> settings{{
    {"colour", "auto", "how many colours: auto none 8 16 256 direct; auto: as many as the terminal has"},
    {"background", "auto", "auto dark light; auto: the terminal is asked"},
    {"view", "nodes", "the view that is shown first"},
    {"list-width", "auto", "of the screen, in percent; auto: as suits the screen"},
    {"follow", "on", "on: single steps select the tensor that changes"},
    {"mouse", "on", "off: the terminal's own selecting works"},
    {"restore", "on", "on: begin where the trace was left"},
    {"unknown", "off", "on: also what only says that something is not known, as of imported logs"},
    {"escape-delay", "25", "ms after which Escape is a key of its own; over ssh it is 100 unless it is set"},
    {"key", "Ctrl-N next-step", "gives a key to an action by its name; none: the key does nothing"},
}};
constexpr std::array<std::string_view, 6> depths{"auto", "none", "8", "16", "256", "direct"}; // in the order of Depth
constexpr std::array<std::string_view, 3> backgrounds{"auto", "dark", "light"};               // in the order of Background

[[noreturn]] void refuse(const std::string& what) { throw Error(ErrorKind::usage, what); }

template <class Enum> Enum one_of(std::string_view name, std::span<const std::string_view> all, std::string_view value) {
    const auto found = std::find(all.begin(), all.end(), value);
    if (found == all.end()) {
        refuse(std::string(name) + " is one of " + joined(all, " ") + ", not '" + std::string(value) + "'");
    }
    return static_cast<Enum>(found - all.begin());
}

bool on_or_off(std::string_view name, std::string_view value) {
    static constexpr std::array<std::string_view, 2> words{"off", "on"};
    return one_of<int>(name, words, value) == 1;
}

int number(std::string_view name, std::string_view value, int least, int most) {
    const std::optional<int> n = read_number<int>(value);
    if (!n || *n < least || *n > most) {
        refuse(std::string(name) + " is a number from " + std::to_string(least) + " to " + std::to_string(most) + ", not '" +
               std::string(value) + "'");
    }
    return *n;
}

/// The first word of a text, which goes on behind it.
std::string_view take_word(std::string_view& text) {
    text.remove_prefix(std::min(text.find_first_not_of(" \t\r"), text.size()));
    const std::string_view word = text.substr(0, text.find_first_of(" \t\r"));
    text.remove_prefix(word.size());
    text.remove_prefix(std::min(text.find_first_not_of(" \t\r"), text.size()));
    return word;
}

} // namespace

int usual_escape_delay() {
    constexpr int here = 25, far = 100;
    return std::getenv("SSH_CONNECTION") || std::getenv("SSH_TTY") ? far : here;
}

void Settings::set(std::string_view name, std::string_view value) {
    if (name == "colour" || name == "color") {
        colour = one_of<Depth>(name, depths, value);
    } else if (name == "background") {
        background = one_of<Background>(name, backgrounds, value);
    } else if (name == "view") {
        const ViewEntry* const named = view_named(value);
        if (!named) {
            refuse("no view '" + std::string(value) + "'");
        }
        view = named->id;
    } else if (name == "list-width") {
        list_width = value == "auto" ? std::nullopt : std::optional(number(name, value, 10, 90));
    } else if (name == "follow") {
        follow = on_or_off(name, value);
    } else if (name == "mouse") {
        mouse = on_or_off(name, value);
    } else if (name == "restore") {
        restore = on_or_off(name, value);
    } else if (name == "unknown") {
        unknown = on_or_off(name, value);
    } else if (name == "escape-delay") {
        escape_delay = number(name, value, 1, 2000);
    } else if (name == "key") {
        const std::string_view key_name = take_word(value), action_name = take_word(value);
        const Key key = key_named(key_name);
        if (key == key_none) {
            refuse("no key is called '" + std::string(key_name) + "'");
        }
        const Action action = action_named(action_name);
        if (action == Action::none && action_name != "none") {
            refuse("no action '" + std::string(action_name) + "' for the key " + std::string(key_name));
        }
        keys.bind(key, action);
    } else {
        refuse("no setting '" + std::string(name) + "': there are " + joined(settings, " ", &SettingEntry::name));
    }
}

std::vector<std::string> Settings::lines() const {
    const auto yes = [](bool on) { return std::string(on ? "on" : "off"); };
    return {"colour " + std::string(depths[ordinal(colour)]),
            "background " + std::string(backgrounds[ordinal(background)]),
            std::string("view ") + entry_of(view).name,
            "list-width " + (list_width ? std::to_string(*list_width) : "auto"),
            "follow " + yes(follow),
            "mouse " + yes(mouse),
            "restore " + yes(restore),
            "unknown " + yes(unknown),
            "escape-delay " + std::to_string(escape_delay)};
}

Settings read_settings(const std::string& path, std::string& note) {
    Settings settings;
    std::string trouble;
    const std::optional<std::string> text = read_small_file(path, trouble);
    if (!trouble.empty()) {
        note = path + " can't be read: " + trouble;
    }
    int n_line = 0;
    for (std::string_view rest = text ? std::string_view(*text) : std::string_view(); !rest.empty();) {
        const size_t end = std::min(rest.find('\n'), rest.size());
        std::string_view line = rest.substr(0, end);
        rest.remove_prefix(std::min(end + 1, rest.size()));
        ++n_line;
        const std::string_view name = take_word(line);
        if (const size_t comment = line.find(" #"); comment != std::string_view::npos) { // "key # sort" keeps its key
            line = line.substr(0, comment);
        }
        while (!line.empty() && std::string_view(" \t\r").find(line.back()) != std::string_view::npos) {
            line.remove_suffix(1);
        }
        if (name.empty() || name.starts_with('#')) {
            continue;
        }
        try {
            settings.set(name, line);
        } catch (const Error& error) {
            if (note.empty()) { // the first one is told, as there is one line for it
                note = path + ":" + std::to_string(n_line) + ": " + error.what();
            }
        }
    }
    return settings;
}

std::span<const SettingEntry> all_settings() noexcept { return settings; }

std::vector<std::string> setting_values(std::string_view name) {
    std::vector<std::string> values;
    if (name == "colour") {
        values.assign(depths.begin(), depths.end());
    } else if (name == "background") {
        values.assign(backgrounds.begin(), backgrounds.end());
    } else if (name == "list-width") {
        values = {"auto"};
    } else if (name == "view") {
        for (const ViewEntry& view : views()) {
            values.emplace_back(view.name);
        }
    } else if (name == "follow" || name == "mouse" || name == "restore" || name == "unknown") {
        values = {"on", "off"};
    } else if (name == "key") {
        for (const Binding& binding : default_bindings()) {
            values.emplace_back(binding.name);
        }
        values.emplace_back("none");
    }
    return values;
}

} // namespace schedscope::tui
