#pragma once

#include "inspector/tui/app.h"

namespace schedscope::tui {

// The selected line of what has the keyboard: a page, the details or the list.

/// Up, down and so on. A page to read is scrolled.
void move_cursor(App& app, Action action);
/// Opens what the selected line leads to.
void open_selected(App& app);
/// Moves the window of what is drawn above the list; `column`: around which one, −1: the selected row.
void zoom(App& app, Zoom how, int column = -1);

} // namespace schedscope::tui
