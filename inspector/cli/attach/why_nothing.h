#pragma once

#include "traces/attach/attach_control.h"

#include <string>

namespace schedscope {

/// Why the loader puts no library of ours into a program of this file; empty: nothing can be seen that speaks against it.
std::string why_not_loaded(const std::string& path);
/// Why nothing of a program was recorded, in words that go on after "nothing was recorded: ". `path`: the file that was run.
std::string why_nothing(const std::string& path, const attach::Control& control, bool children);

} // namespace schedscope
