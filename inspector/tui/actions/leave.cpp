#include "inspector/tui/actions/leave.h"

#include "inspector/tui/actions/comparing.h"
#include "inspector/tui/actions/finding.h"

namespace schedscope::tui {

std::string nothing_to_leave(const App& app) {
    const bool nothing = app.pages.empty() && !app.picture.running() && !app.save.running() && !app.guide.open() &&
                         !app.session.comparison().running() && app.pane == App::Pane::list && app.list.filter().empty() &&
                         app.list.search().empty();
    return nothing ? "nothing to leave: " + app.key_of(Action::close) + " quits" : "";
}

void leave(App& app) {
    if (!app.pages.empty()) {
        app.pages.close();
    } else if (app.guide.open()) {
        app.guide.leave();
        app.tell("the guide is left: " + app.key_of(Action::help) + " shows the keys");
    } else if (FileRun* const file = app.running_file()) {
        file->cancel();
    } else if (app.session.comparison().running()) {
        stop_comparison(app);
    } else if (app.pane == App::Pane::detail) {
        app.pane = App::Pane::list;
    } else if (!app.list.filter().empty()) {
        set_filter(app, "");
    } else {
        app.list.set_search({});
    }
}

} // namespace schedscope::tui
