#pragma once

#include "inspector/tui/app.h"

#include <string>

namespace schedscope::tui {

/// "NAME VALUE", until the user quits; "": shows them all on a page.
void change_setting(App& app, const std::string& argument);

} // namespace schedscope::tui
