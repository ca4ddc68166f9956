#include "runtime/system/visible_text.h"

#include "runtime/system/utf8.h"

#include <algorithm>
#include <cstdio>
#include <utility>

namespace schedscope {

namespace {

/// Takes the first character away from a text and adds what shows it.
void show_first(std::string& out, std::string_view& text) {
    const std::string_view before = text;
    const std::optional<char32_t> c = take_character(text);
    if (!c) {
        out += utf8_replacement;
    } else if (*c == '\n') {
        out += "\\n";
    } else if (*c == '\t') {
        out += "\\t";
    } else if (is_control(*c)) {
        out += '?';
    } else {
        out += before.substr(0, before.size() - text.size());
    }
}

/// Bytes at the end of a text that begin a character and are not all of it.
size_t begun_at_end(std::string_view text) {
    for (size_t n = 1; n <= std::min<size_t>(text.size(), 3); ++n) {
        const char c = text[text.size() - n];
        if ((static_cast<unsigned char>(c) & 0xC0U) != 0x80U) { // the first of a character
            return n < utf8_length(c, Utf8::strict) ? n : 0;
        }
    }
    return 0;
}

} // namespace

bool is_control(char32_t c) noexcept {
    const bool is_byte_control = c < 0x20 || (c >= 0x7F && c < 0xA0); // the second row begins sequences, too
    const bool is_of_direction =
        (c >= 0x202A && c <= 0x202E) || (c >= 0x2066 && c <= 0x2069) || c == 0x200E || c == 0x200F || c == 0x061C;
    return is_byte_control || is_of_direction || c == 0x2028 || c == 0x2029;
}

std::string visible(std::string_view text, size_t longest) {
    std::string out;
    out.reserve(std::min(text.size(), longest));
    for (size_t n = 0; n < longest && !text.empty(); ++n) {
        show_first(out, text);
    }
    return text.empty() ? out : out + "…";
}

std::string escape_controls(std::string json) {
    const auto is_suspect = [](char c) {
        return c == '\x7F' || c == '\xC2' || c == '\xD8' || c == '\xE2';
    }; // what they begin with
    if (std::none_of(json.begin(), json.end(), is_suspect)) {
        return json;
    }
    std::string out;
    out.reserve(json.size());
    for (std::string_view rest = json; !rest.empty();) {
        const std::string_view before = rest;
        const std::optional<char32_t> c = take_character(rest);
        if (c && *c >= 0x7F && is_control(*c)) {
            char escape[8];
            std::snprintf(escape, sizeof escape, "\\u%04x", *c & 0xFFFFU);
            out += escape;
        } else {
            out += before.substr(0, before.size() - rest.size());
        }
    }
    return out;
}

std::string VisiblePieces::add(std::string_view piece) {
    const std::string all = std::exchange(begun_, {}).append(piece);
    std::string_view rest = all;
    begun_ = rest.substr(rest.size() - begun_at_end(rest));
    rest.remove_suffix(begun_.size());
    std::string out;
    out.reserve(rest.size());
    while (!rest.empty()) {
        if (rest.front() == '\n' || rest.front() == '\t') {
            out += rest.front();
            rest.remove_prefix(1);
        } else {
            show_first(out, rest);
        }
    }
    return out;
}

std::string VisiblePieces::finish() { return visible(std::exchange(begun_, {})); }

} // namespace schedscope
