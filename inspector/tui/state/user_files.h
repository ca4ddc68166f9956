#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace schedscope::tui {

/// The files that belong to the user and not to a trace: settings and what was last looked at (XDG base directories). Nothing
/// here throws: what can't be read or written leaves the inspector as if it weren't there.

/// "$XDG_CONFIG_HOME/schedscope/settings", by default below ~/.config; empty: there is no home.
std::string settings_path();
/// "$XDG_STATE_HOME/schedscope/sessions/NAME-HASH", by default below ~/.local/state, for the trace at an absolute path.
std::string session_path(std::string_view trace);

/// The whole of a small regular file. Nothing: it isn't there. `trouble` gets why one that is there could not be read (too large,
/// a folder, no permission).
std::optional<std::string> read_small_file(const std::string& path, std::string& trouble);

/// "~/x" as a shell would take it.
std::string expanded_path(const std::string& path);

/// Replaces a file in one step (runtime/system/output_file.h), making its folders (for the user alone). False: that failed.
bool replace_file(const std::string& path, std::string_view text);

} // namespace schedscope::tui
