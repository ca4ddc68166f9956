#include "runtime/system/utf8.h"

#include <algorithm>

namespace schedscope {

std::optional<char32_t> take_character(std::string_view& text, Utf8 rule) noexcept {
    const std::string_view all = text;
    const auto byte = [&](size_t i) { return static_cast<uint8_t>(all[i]); };
    const uint8_t first = byte(0);
    text.remove_prefix(1);
    if (first < 0x80) {
        return first;
    }
    const size_t length = utf8_length(all[0], rule);
    if (length == 0 || length > all.size()) {
        return std::nullopt;
    }
    char32_t code = first & (0xFFU >> (length + 1));
    for (size_t k = 1; k < length; ++k) {
        if ((byte(k) & 0xC0U) != 0x80U) {
            return std::nullopt;
        }
        code = code << 6U | (byte(k) & 0x3FU);
    }
    const bool overlong = (length == 3 && code < 0x800) || (length == 4 && code < 0x10000);
    if (rule == Utf8::strict && (overlong || (code >= 0xD800 && code <= 0xDFFF) || code > 0x10FFFF)) {
        return std::nullopt;
    }
    text.remove_prefix(length - 1);
    return code;
}

std::u32string code_points(std::string_view text, Utf8 rule) {
    std::u32string out;
    out.reserve(text.size());
    while (!text.empty()) {
        out += take_character(text, rule).value_or(U'\xFFFD');
    }
    return out;
}

size_t count_characters(std::string_view text) noexcept {
    return std::count_if(text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; });
}

bool append_utf8(char32_t c, std::string& out) {
    const auto tail = [&out](char32_t bits) { out += 0x80U | (bits & 0x3FU); };
    if (c < 0x80) {
        out += static_cast<char>(c);
    } else if (c < 0x800) {
        out += static_cast<char>(0xC0U | c >> 6U);
        tail(c);
    } else if (c < 0x10000) {
        out += static_cast<char>(0xE0U | c >> 12U);
        tail(c >> 6U);
        tail(c);
    } else if (c < 0x110000) {
        out += static_cast<char>(0xF0U | c >> 18U);
        tail(c >> 12U);
        tail(c >> 6U);
        tail(c);
    } else {
        return false;
    }
    return true;
}

std::string to_utf8(std::u32string_view text) {
    std::string out;
    out.reserve(text.size());
    for (const char32_t c : text) {
        append_utf8(c, out);
    }
    return out;
}

bool is_utf8(std::string_view text) noexcept {
    while (!text.empty()) {
        if (take_character(text).value_or(0) == 0) {
            return false;
        }
    }
    return true;
}

std::string as_utf8(std::string_view text) {
    std::string out;
    out.reserve(text.size());
    while (!text.empty()) {
        const std::string_view before = text;
        const bool good = take_character(text).value_or(0) != 0;
        out += good ? before.substr(0, before.size() - text.size()) : utf8_replacement;
    }
    return out;
}

} // namespace schedscope
