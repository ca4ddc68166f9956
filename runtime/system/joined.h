#pragma once

#include <functional>
#include <initializer_list>
#include <string>
#include <string_view>

namespace schedscope {

/// Texts in one, with another between them: "a, b, c". `text_of` says an element's: a member of it, or a function. Nothing is put
/// behind empty ones that come first.
template <typename Elements, typename TextOf = std::identity>
std::string joined(const Elements& elements, std::string_view between, TextOf text_of = {}) {
    std::string text;
    for (const auto& element : elements) {
        text.append(text.empty() ? "" : between).append(std::invoke(text_of, element));
    }
    return text;
}

/// The pieces, one after the other.
inline std::string joined(std::initializer_list<std::string_view> pieces) {
    std::string text;
    for (const std::string_view piece : pieces) {
        text += piece;
    }
    return text;
}

} // namespace schedscope
