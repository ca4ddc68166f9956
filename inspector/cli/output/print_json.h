#pragma once

#include <nlohmann/json_fwd.hpp>

#include <cmath>
#include <concepts>
#include <optional>
#include <string_view>

namespace schedscope {

// What is unknown is null: an optional without a value, a text without a letter, a number that is not finite.
template <typename T, typename Json = nlohmann::json> Json or_null(const std::optional<T>& value) {
    return value ? Json(*value) : Json(nullptr);
}
template <typename Json = nlohmann::json> Json or_null(std::string_view text) {
    return text.empty() ? Json(nullptr) : Json(text);
}
template <std::floating_point T, typename Json = nlohmann::json> Json or_null(T value) {
    return std::isfinite(value) ? Json(value) : Json(nullptr);
}

/// To stdout, one line, bytes that are no UTF-8 replaced, control characters escaped.
void print_json(const nlohmann::json& value);

} // namespace schedscope
