#pragma once

#include "inspector/tui/app.h"

#include <string>

namespace schedscope::tui {

/// Takes back what is transient, the uppermost first: a page, a picture or a comparison that is not done, standing in the
/// details, the filter, the search.
void leave(App& app);
/// Why there is nothing; empty: there is something.
std::string nothing_to_leave(const App& app);

} // namespace schedscope::tui
