#pragma once

#include "traces/history/tables/tables.h"

#include <nlohmann/json_fwd.hpp>

namespace schedscope::show {

/// Its name; null: none.
nlohmann::json backend_json(const History& history, BackendId id);

nlohmann::json passes_json(History& history, const PlanState& state);
nlohmann::json assignments_json(History& history, const PlanState& state);
nlohmann::json splits_json(History& history, const PlanState& state);
nlohmann::json copies_json(History& history, const PlanState& state);
nlohmann::json fusion_json(History& history, const PlanState& state);
nlohmann::json memory_json(History& history, const PlanState& state);
nlohmann::json kernels_json(History& history, const PlanState& state);
nlohmann::json tokens_json(History& history, const PlanState& state);
nlohmann::json reuse_json(History& history, const PlanState& state);
nlohmann::json values_json(History& history, const PlanState& state);

} // namespace schedscope::show
