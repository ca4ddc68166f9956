#pragma once

#include "viz/tables/table_json.h"

namespace schedscope {

/// To stdout, one line, bytes that are no UTF-8 replaced, control characters escaped.
void print_json(const nlohmann::json& value);

} // namespace schedscope
