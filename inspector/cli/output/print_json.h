#pragma once

#include <nlohmann/json_fwd.hpp>

#include <optional>

namespace schedscope {

/// What is unknown is null.
template <typename T, typename Json = nlohmann::json> Json or_null(const std::optional<T>& value) {
    return value ? Json(*value) : Json(nullptr);
}

/// To stdout, one line, bytes that are no UTF-8 replaced, control characters escaped.
void print_json(const nlohmann::json& value);

} // namespace schedscope
