#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace schedscope {

/// The character that a text begins with, which is taken away from it. Nothing: none begins with its first byte (RFC 3629: no overlong forms, no surrogates, at most
/// U+10FFFF), and that byte alone is taken away. The text is not empty.
std::optional<char32_t> take_character(std::string_view& text) noexcept;

/// Well-formed UTF-8, without NUL? Pieces of tokens often are not.
bool is_utf8(std::string_view text) noexcept;

/// Adds the character's bytes. False: there is no such character, and nothing was added.
bool append_utf8(char32_t c, std::string& out);
std::string to_utf8(std::u32string_view text); ///< of characters that there are

/// The text, with U+FFFD for each byte that makes it ill-formed, NUL as well.
std::string as_utf8(std::string_view text);

} // namespace schedscope
