#pragma once

#include "inspector/tui/app.h"

#include <string>

namespace schedscope::tui {

/// A query is typed, beginning with `now`; with a preview, the list shows what it does as long as it is typed.
void ask_query(App& app, std::string label, Typed kind, const Query& now, void (*then)(App&, const std::string&),
               std::string (QueryPreview::*preview)(const std::string&) = nullptr);

} // namespace schedscope::tui
