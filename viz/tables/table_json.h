#pragma once

#include "viz/tables/table.h"

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

} // namespace schedscope

namespace schedscope::tables {

/// A cell as a value: null for what is nothing, unknown or not known yet.
nlohmann::json json_of(const Cell& cell);
/// [{"index":0,"backend":"CPU",…}]: the columns that have a key.
nlohmann::json json_of(const Table& table);
/// Of one row.
nlohmann::json json_of(const Table& table, int row);

} // namespace schedscope::tables
