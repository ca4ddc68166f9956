#pragma once

#include "traces/diff/diff.h"

#include <nlohmann/json_fwd.hpp>

namespace schedscope {

/// {"identical":false,"differences":[{"what":"split","a":…,"b":…}]}, and more keys.
nlohmann::json diff_json(const diff::Result& result);

} // namespace schedscope
