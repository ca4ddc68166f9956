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

/// A line of the table of settings.
struct SettingEntry {
    std::string_view name;
    std::string_view value; ///< that it comes with; of `key` an example
    std::string_view help;
};
std::span<const SettingEntry> all_settings() noexcept;

/// What a user may want otherwise. The file has one setting a line, NAME VALUE, and comments after '#'.
struct Settings {
    Depth colour = Depth::automatic;
    Background background = Background::automatic;
    ViewId view = ViewId::nodes;
    std::optional<int> list_width;
    bool follow = true, mouse = true, restore = true, unknown = false;
    int escape_delay = usual_escape_delay();
    KeyMap keys;

    /// Throws Error(usage): there is no such setting, or it can't be that.
    void set(std::string_view name, std::string_view value);
    /// "NAME VALUE" of each (keys left out, which are on the page of keys).
    std::vector<std::string> lines() const;
};

/// `note` says what was wrong with the file, and where; what is right in it holds. No file: as it comes.
Settings read_settings(const std::string& path, std::string& note);

/// What a setting can be, for completion.
std::vector<std::string> setting_values(std::string_view name);

} // namespace schedscope::tui
