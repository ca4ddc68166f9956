#pragma once

#include "runtime/session/memory_need.h"

#include <functional>
#include <span>
#include <string>

namespace schedscope {

/// Tells on standard error what of a plan does not fit, and notes what it needs as facts of the session.
void warn_of_memory(std::span<const MemoryNeed> needs, const std::function<void(std::string what, std::string value)>& add_fact);

} // namespace schedscope
