#pragma once

#include "traces/history/explain.h"

#include <iosfwd>

namespace schedscope {

/// The story of a tensor for people, a line for each thing that happened.
void print_story(const History& history, const PlanState& state, const Story& story, std::ostream& out);

} // namespace schedscope
