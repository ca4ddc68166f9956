#pragma once

#include "inspector/tui/app.h"

namespace schedscope::tui {

/// The keys that work here, on a page; again: closes it.
void show_keys(App& app);

} // namespace schedscope::tui
