#pragma once

#include "inspector/tui/app.h"

namespace schedscope::tui {

/// The keys that work here, on a page; again: closes it.
void show_keys(App& app);

/// What the running program writes, from its end, on a page that follows it.
void show_output(App& app);

} // namespace schedscope::tui
