#pragma once

#include "inspector/tui/app.h"

namespace schedscope::tui {

/// What the running program writes, from its end, on a page that follows it.
void show_output(App& app);

} // namespace schedscope::tui
