#pragma once

#include "inspector/tui/app.h"

#include <string>

namespace schedscope::tui {

// Plans beside the ones that are looked at.

void ask_what_if(App& app);
/// Plans again with other settings.
void start_what_if(App& app, const std::string& settings);
/// Another trace beside this one.
void start_diff(App& app, const std::string& path);
void stop_comparison(App& app);

} // namespace schedscope::tui
