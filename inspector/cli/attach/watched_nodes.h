#pragma once

#include "traces/attach/attach_control.h"

#include <string>
#include <vector>

namespace schedscope {

/// Tells a program what to look at, before it starts: the patterns of --watch. Throws Error(usage) for one that can't be
/// understood, or asks what is not known of a node that another program runs.
void watch_nodes(attach::Control& control, const std::vector<std::string>& patterns);
/// A sentence for each pattern that no node matched.
std::vector<std::string> unmatched_patterns(const attach::Control& control, const std::vector<std::string>& patterns);

} // namespace schedscope
