#include "inspector/tui/actions/change_setting.h"

#include "inspector/tui/actions/pages.h"
#include "inspector/tui/state/user_files.h"

#include <algorithm>

namespace schedscope::tui {

void change_setting(App& app, const std::string& argument) {
    if (argument.empty()) {
        app.pages.open({"settings", [&app](int) { return settings_page(app.settings, settings_path()); }});
        return;
    }
    const size_t space = std::min(argument.find(' '), argument.size());
    const std::string name = argument.substr(0, space);
    app.settings.set(name, std::string_view(argument).substr(std::min(argument.find_first_not_of(' ', space), argument.size())));
    if (name == "follow") {
        app.session.follow = app.settings.follow;
    }
    if (name == "unknown") {
        app.session.show_unknown(app.settings.unknown);
        app.list.outdate();
    }
    if (name == "view") {
        app.show_view(app.settings.view);
    }
    if (app.terminal_options.depth != Depth::none || name == "colour" ||
        name == "color") { // asked for here, it goes before NO_COLOR
        app.terminal_options.depth = app.settings.colour;
    }
    app.terminal_options.background = app.settings.background;
    app.terminal_options.mouse = app.settings.mouse;
    app.terminal_options.escape_delay = app.settings.escape_delay;
    app.terminal.apply(app.terminal_options);
    app.tell("set " + argument + ", until you quit");
}

} // namespace schedscope::tui
