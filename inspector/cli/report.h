#pragma once

#include "traces/history.h"

#include <iosfwd>

namespace schedscope {

/// A trace for people who see it for the first time: the summary, the first plan's splits, and the story of one tensor.
void print_report(History& history, std::ostream& out);

} // namespace schedscope
