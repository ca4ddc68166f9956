#pragma once

#include "traces/history/tables/tables.h"

#include <iosfwd>

namespace schedscope::show {

void passes_text(History& history, const PlanState& state, std::ostream& out);
void assignments_text(History& history, const PlanState& state, std::ostream& out);
void splits_text(History& history, const PlanState& state, std::ostream& out);
void copies_text(History& history, const PlanState& state, std::ostream& out);
void fusion_text(History& history, const PlanState& state, std::ostream& out);
void memory_text(History& history, const PlanState& state, std::ostream& out);
void kernels_text(History& history, const PlanState& state, std::ostream& out);
void tokens_text(History& history, const PlanState& state, std::ostream& out);
void reuse_text(History& history, const PlanState& state, std::ostream& out);
void values_text(History& history, const PlanState& state, std::ostream& out);

} // namespace schedscope::show
