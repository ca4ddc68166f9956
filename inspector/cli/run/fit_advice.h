#pragma once

#include "runtime/backend/registry.h"
#include "runtime/session/generate.h"
#include "runtime/session/memory_need.h"
#include "runtime/session/session.h"

#include <span>
#include <string>

namespace schedscope {

bool all_fit(std::span<const MemoryNeed> needs);
bool devices_fit(std::span<const MemoryNeed> needs); ///< whatever the host has
bool all_fit_at_once(std::span<const MemoryNeed> needs);

/// Where the devices of a dry run do not hold all, or the host what is not in a file: what would fit, each found by planning
/// again; what the plans need is reserved for any prompt.
/// "; -ngl 71 is the most that the devices hold; all that were asked for fit with -c 4096,
/// or with -nkvo". Of several devices, with which -ts.
std::string what_would_fit(GenerateRequest request, const RunOptions& options, const ModelFiles& files, const Registry& registry);

} // namespace schedscope
