#pragma once

#include "inspector/tui/app.h"

#include <string>

namespace schedscope::tui {

/// The keys that work here, on a page; again: closes it.
void show_keys(App& app);

/// A topic of the manual, on a page; of none: which topics there are, to choose one.
void show_help(App& app, const std::string& topic);

/// What the running program writes, from its end, on a page that follows it.
void show_output(App& app);
/// What the status line said, the last one at the end: whole, also what did not fit.
void show_messages(App& app);

} // namespace schedscope::tui
