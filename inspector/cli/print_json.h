#pragma once

#include <nlohmann/json_fwd.hpp>

namespace schedscope {

/// To stdout, one line, bytes that are no UTF-8 replaced.
void print_json(const nlohmann::json& value);

} // namespace schedscope
