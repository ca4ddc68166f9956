#pragma once

#include <charconv>
#include <optional>
#include <string_view>
#include <system_error>

namespace schedscope {

/// The number that a text is from its first to its last character, whatever the locale: "12", "-5" where the type has a sign,
/// "1e3", "inf" and "nan" for real ones. Nothing: the text has something else in it, were it a blank or a "+", or the type has no
/// room for the number.
template <typename Number> std::optional<Number> read_number(std::string_view text) noexcept {
    Number number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    return error == std::errc() && end == text.data() + text.size() ? std::optional(number) : std::nullopt;
}

} // namespace schedscope
