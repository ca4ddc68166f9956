#pragma once

#include "runtime/session/memory_need.h"

#include <functional>
#include <span>
#include <string>

namespace schedscope {

/// Tells on standard error what of a plan does not fit, and notes what it needs as facts of the session. what_would: behind
/// the last that does not: "; -ngl 12 is the most that the devices hold".
void warn_of_memory(std::span<const MemoryNeed> needs, const std::function<void(std::string what, std::string value)>& add_fact,
                    const std::string& what_would = {});

} // namespace schedscope
