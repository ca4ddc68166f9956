#pragma once

#include <string>
#include <string_view>

namespace schedscope::tui {

/// What the terminal may stand in: tmux and screen pass on only what is wrapped for them.
enum class Wrapping { none, tmux, screen };
Wrapping wrapping_of_environment();

/// The sequence that puts a text into the clipboard of the terminal (OSC 52), wherever that runs: also at the other end of ssh.
/// Terminals that don't know it, or are told to refuse it, ignore it; there is no answer.
std::string clipboard_sequence(std::string_view text, Wrapping wrapping);

/// Terminals take no longer texts (xterm's limit, which others share).
constexpr size_t longest_clipboard_text = 74'000;

} // namespace schedscope::tui
