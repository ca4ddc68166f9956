#pragma once

#include "inspector/tui/app.h"

#include <string>

namespace schedscope::tui {

// Places with a letter, a to z, that can be come back to.

/// The next key is the letter of a mark to set or to go to.
void ask_for_letter(App& app, Action action);
void on_letter(App& app, Action action, Key key);
void set_mark(App& app, char letter);
void go_to_mark(App& app, char letter);
/// On a page, to choose one.
void show_marks(App& app);

} // namespace schedscope::tui
