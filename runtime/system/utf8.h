#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace schedscope {

/// What is a character.
enum class Utf8 : uint8_t {
    strict,  ///< as RFC 3629 has it: no overlong forms, no surrogates, at most U+10FFFF
    lenient, ///< those, too, as they are: what the tokenizers of llama.cpp read
};

constexpr std::string_view utf8_replacement = "\xEF\xBF\xBD"; ///< U+FFFD

/// Bytes of a character that begins with this one; 0: none does.
constexpr size_t utf8_length(char first, Utf8 rule) noexcept {
    const unsigned char byte = first;
    const bool strict = rule == Utf8::strict;
    return byte < 0x80                     ? 1
           : byte < (strict ? 0xC2 : 0xC0) ? 0
           : byte < 0xE0                   ? 2
           : byte < 0xF0                   ? 3
           : byte < (strict ? 0xF5 : 0xF8) ? 4
                                           : 0;
}

/// The character that a text begins with, which is taken away from it. Nothing: none begins with its first byte, and that byte
/// alone is taken away. The text is not empty.
std::optional<char32_t> take_character(std::string_view& text, Utf8 rule = Utf8::strict) noexcept;

/// All characters of any bytes, U+FFFD for each byte that begins none.
std::u32string code_points(std::string_view text, Utf8 rule);

/// Of well-formed UTF-8.
size_t count_characters(std::string_view text) noexcept;

/// Well-formed UTF-8, without NUL? Pieces of tokens often are not.
bool is_utf8(std::string_view text) noexcept;

/// Adds the character's bytes. False: there is no such character, and nothing was added.
bool append_utf8(char32_t c, std::string& out);
std::string to_utf8(std::u32string_view text); ///< of characters that there are

/// The text, with U+FFFD for each byte that makes it ill-formed, NUL as well.
std::string as_utf8(std::string_view text);

} // namespace schedscope
