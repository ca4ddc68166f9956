#pragma once

#include "traces/history/tables/tables.h"

#include <nlohmann/json_fwd.hpp>

#include <iosfwd>

/// What a verification recorded, node by node: `show --what differences`.
namespace schedscope::show {

void differences_text(History& history, const PlanState& state, std::ostream& out);
nlohmann::json differences_json(History& history, const PlanState& state);

} // namespace schedscope::show
