#pragma once

#include <algorithm>
#include <string>
#include <string_view>

namespace schedscope {

/// Of ASCII's letters, whatever the locale.
constexpr char lower(char c) noexcept { return c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c; }
inline std::string lower(std::string_view text) {
    std::string out(text);
    std::transform(out.begin(), out.end(), out.begin(), [](char c) { return lower(c); });
    return out;
}

/// `part` somewhere in `text`, whatever their case.
inline bool has_ignoring_case(std::string_view text, std::string_view part) noexcept {
    return std::search(text.begin(), text.end(), part.begin(), part.end(), [](char x, char y) { return lower(x) == lower(y); }) !=
           text.end();
}

/// Names of devices and types are accepted in any case.
inline bool same_ignoring_case(std::string_view a, std::string_view b) noexcept {
    return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](char x, char y) { return lower(x) == lower(y); });
}

} // namespace schedscope
