#pragma once

#include "viz/tables/table.h"

#include <nlohmann/json_fwd.hpp>

namespace schedscope::tables {

/// A cell as a value: null for what is nothing, unknown or not known yet.
nlohmann::json json_of(const Cell& cell);
/// [{"index":0,"backend":"CPU",…}]: the columns that have a key.
nlohmann::json json_of(const Table& table);
/// Of one row.
nlohmann::json json_of(const Table& table, int row);

} // namespace schedscope::tables
