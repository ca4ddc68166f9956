#pragma once

#include "inspector/tui/app.h"

#include <string>

namespace schedscope::tui {

// What leaves the inspector: text to the clipboard or to a file, pictures. `overwrite`: also a file that is there.

void copy_list(App& app);
void copy_details(App& app);
/// The list and the details.
void write_text(App& app, const std::string& path, bool overwrite);
/// What is recorded so far of what is looked at only in memory, as a trace.
void save_trace(App& app, const std::string& path, bool overwrite);
/// "FILE" or "VIEW FILE"; by default the picture that is most like the view that is shown.
void draw_picture(App& app, const std::string& argument, bool overwrite);

} // namespace schedscope::tui
