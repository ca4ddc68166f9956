#pragma once

#include <string>
#include <string_view>

/// What is done to any piece of a log's text.
namespace schedscope::import {

/// Of ASCII alone, whatever the locale says.
constexpr bool is_digit(char c) noexcept { return c >= '0' && c <= '9'; }

/// Without the blanks around it; points into the same text.
std::string_view trimmed(std::string_view text) noexcept;

/// A text that is safe to show and to store: bytes that are no UTF-8 become question marks, half a character at its end is left
/// out.
std::string readable(std::string_view text);

} // namespace schedscope::import
