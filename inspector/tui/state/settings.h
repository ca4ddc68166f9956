#pragma once

#include "inspector/tui/input/keys.h"
#include "inspector/tui/terminal/style.h"
#include "inspector/tui/views/views.h"

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace schedscope::tui {

/// In milliseconds: over a network the bytes of one key may come apart.
int usual_escape_delay();

/// What a user may want otherwise. The file has one setting a line, NAME VALUE, and comments after '#':
///
///     colour auto|none|8|16|256|direct    how many colours; auto: as many as the terminal has
///     background auto|dark|light          auto: the terminal is asked
///     view splits                         that is shown first
///     list-width auto|54                  of the screen, in percent; auto: as suits the screen
///     follow on|off                       single steps select the tensor that changes
///     mouse on|off                        off: the terminal's own selecting works
///     restore on|off                      begin where a trace was left
///     escape-delay 25                     ms after which Escape is a key of its own; the default is 100 over ssh
///     key Ctrl-N next-step                an action by its name (`:` and Tab list them; none: nothing)
struct Settings {
    Depth colour = Depth::automatic;
    Background background = Background::automatic;
    ViewId view = ViewId::nodes;
    std::optional<int> list_width;
    bool follow = true, mouse = true, restore = true;
    int escape_delay = usual_escape_delay();
    KeyMap keys;

    /// Throws Error(usage): there is no such setting, or it can't be that.
    void set(std::string_view name, std::string_view value);
    /// "NAME VALUE" of each (keys left out, which are on the page of keys).
    std::vector<std::string> lines() const;
};

/// `note` says what was wrong with the file, and where; what is right in it holds. No file: as it comes.
Settings read_settings(const std::string& path, std::string& note);

std::span<const std::string_view> setting_names() noexcept;
/// What a setting can be, for completion.
std::vector<std::string> setting_values(std::string_view name);

} // namespace schedscope::tui
