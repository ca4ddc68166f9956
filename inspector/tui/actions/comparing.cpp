#include "inspector/tui/actions/comparing.h"

#include "inspector/tui/state/user_files.h"

namespace schedscope::tui {

void ask_what_if(App& app) {
    app.ask({"what if ", Typed::what_if, app.session.comparison().settings(),
             [&app](const std::string& text) { start_what_if(app, text); },
             [&app](std::string_view before) { return app.completions().what_if(before); }});
}

void start_what_if(App& app, const std::string& text) {
    app.session.start_what_if(text);
    app.show_view(ViewId::what_if);
    app.tell("planning again …: Esc stops");
}

void start_diff(App& app, const std::string& path) {
    app.session.start_diff(expanded_path(path));
    app.files_in_use.push_back(expanded_path(path));
    app.show_view(ViewId::what_if);
    app.tell("comparing with " + path + " …");
}

void stop_comparison(App& app) {
    app.session.stop_comparison();
    app.tell("stopping the comparison …");
}

} // namespace schedscope::tui
