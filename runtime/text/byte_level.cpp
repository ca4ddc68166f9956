#include "runtime/text/byte_level.h"

#include "runtime/system/utf8.h"

#include <array>

namespace schedscope {

namespace {

constexpr bool stands_for_itself(unsigned byte) noexcept {
    return (byte >= 0x21 && byte <= 0x7E) || (byte >= 0xA1 && byte <= 0xAC) || byte >= 0xAE;
}

struct ByteTable {
    std::array<std::string, 256> characters;
    std::array<int16_t, 0x200> bytes; ///< by character
    ByteTable() {
        bytes.fill(-1);
        char32_t next = 0x100;
        for (unsigned byte = 0; byte < 256; ++byte) {
            const char32_t c = stands_for_itself(byte) ? byte : next++;
            append_utf8(c, characters[byte]);
            bytes[c] = static_cast<int16_t>(byte);
        }
    }
};

const ByteTable& table() {
    static const ByteTable t;
    return t;
}

} // namespace

std::string_view byte_level_character(uint8_t byte) noexcept { return table().characters[byte]; }

int byte_of_character(char32_t c) noexcept { return c < table().bytes.size() ? table().bytes[c] : -1; }

std::string byte_level_decoded(std::string_view stored) {
    constexpr std::string_view digits = "0123456789abcdef";
    std::string result;
    for (const char32_t c : code_points(stored, Utf8::lenient)) {
        const int byte = byte_of_character(c);
        if (byte >= 0) {
            result += static_cast<char>(byte);
            continue;
        }
        std::string utf8;
        append_utf8(c, utf8);
        result += "[UNK_BYTE_0x";
        for (const char b : utf8) {
            result += digits[static_cast<unsigned char>(b) >> 4U];
            result += digits[b & 15U];
        }
        result.append(stored) += ']';
    }
    return result;
}

} // namespace schedscope
