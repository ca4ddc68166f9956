#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace schedscope {

/// Byte-level BPE vocabularies write bytes as printable characters: printable Latin-1 bytes as themselves, the other 68 as
/// U+0100, U+0101, … in order. So a space is "Ġ" (U+0120) and a line feed "Ċ".
std::string_view byte_level_character(uint8_t byte) noexcept;

/// The byte that a character stands for, or −1.
int byte_of_character(char32_t c) noexcept;

/// Stored text to bytes. A character that stands for none is written as "[UNK_BYTE_0x…]", followed inside by the whole text, as
/// llama.cpp does.
std::string byte_level_decoded(std::string_view stored);

} // namespace schedscope
