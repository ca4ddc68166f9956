#pragma once

#include <nlohmann/json.hpp>

#include <optional>

namespace schedscope {

/// What is unknown is null.
template <typename T> nlohmann::json or_null(const std::optional<T>& value) {
    return value ? nlohmann::json(*value) : nlohmann::json(nullptr);
}

/// To stdout, one line, bytes that are no UTF-8 replaced, control characters escaped.
void print_json(const nlohmann::json& value);

} // namespace schedscope
