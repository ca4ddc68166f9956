#pragma once

#include "traces/history/history.h"

#include <iosfwd>

namespace schedscope {

/// A demo's trace for people who see one for the first time: the summary, the splits of its prompt (evaluation 0), and the story
/// of one tensor of it.
void print_demo_report(History& history, std::ostream& out);

} // namespace schedscope
