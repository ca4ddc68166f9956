#pragma once

#include "traces/attach/objects.h"

namespace schedscope::attach {

/// Our function of that name; of those that are watched.
void* hook_of(Fn function);

} // namespace schedscope::attach
