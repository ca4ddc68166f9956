#include "traces/utf8.h"

#include <cstddef>
#include <cstdint>

namespace schedscope {

namespace {

/// Bytes of the character that the text begins with; 0: it begins with none.
size_t character_length(std::string_view text) noexcept {
    const auto first = static_cast<uint8_t>(text[0]);
    if (first == 0) {
        return 0;
    }
    const size_t length = first < 0x80 ? 1 : first < 0xC2 ? 0 : first < 0xE0 ? 2 : first < 0xF0 ? 3 : first < 0xF5 ? 4 : 0;
    if (length == 0 || length > text.size()) {
        return 0;
    }
    for (size_t k = 1; k < length; ++k) {
        if ((static_cast<uint8_t>(text[k]) & 0xC0) != 0x80) {
            return 0;
        }
    }
    if (length > 2) { // overlong forms, surrogates, beyond the last character
        const auto second = static_cast<uint8_t>(text[1]);
        if ((first == 0xE0 && second < 0xA0) || (first == 0xED && second > 0x9F) || (first == 0xF0 && second < 0x90) ||
            (first == 0xF4 && second > 0x8F)) {
            return 0;
        }
    }
    return length;
}

} // namespace

bool is_utf8(std::string_view text) noexcept {
    while (!text.empty()) {
        const size_t length = character_length(text);
        if (length == 0) {
            return false;
        }
        text.remove_prefix(length);
    }
    return true;
}

std::string as_utf8(std::string_view text) {
    std::string out;
    out.reserve(text.size());
    while (!text.empty()) {
        const size_t length = character_length(text);
        out += length == 0 ? std::string_view("\xEF\xBF\xBD") : text.substr(0, length);
        text.remove_prefix(length == 0 ? 1 : length);
    }
    return out;
}

} // namespace schedscope
