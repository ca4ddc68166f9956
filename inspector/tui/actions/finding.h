#pragma once

#include "inspector/tui/app.h"

#include <string>

namespace schedscope::tui {

// Search, filter and order of the list.

void ask_search(App& app);
void ask_filter(App& app);
/// The next line that matches; without a text, that the last search finds.
void search_for(App& app, const std::string& text);
/// To the next line that the last search finds, around the ends of the list; `from_here`: the selected one may be it.
void find(App& app, bool forward, bool from_here = false);
/// Only the lines that match; without a text, all.
void set_filter(App& app, const std::string& text);
/// By a column of the view; −1: as they come.
void sort_by(App& app, int column);
/// By the column whose title begins so; "": as they come.
void sort_by_title(App& app, const std::string& title);

} // namespace schedscope::tui
