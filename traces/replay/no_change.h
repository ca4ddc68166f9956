#pragma once

#include "traces/replay/what_if.h"

#include <memory>
#include <string>
#include <vector>

namespace schedscope {

/// Why a what-if changed nothing: a sentence for each of its settings, from what the trace recorded. Empty for a what-if without
/// settings. To be asked when `replay` found no difference. Throws Error(input) when the source can't be read.
std::vector<std::string> why_nothing_changed(const WhatIf& what_if, const std::shared_ptr<const RecordSource>& source);

} // namespace schedscope
