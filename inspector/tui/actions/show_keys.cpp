#include "inspector/tui/actions/show_keys.h"

#include "inspector/tui/actions/actions.h"
#include "inspector/tui/actions/pages.h"

namespace schedscope::tui {

void show_keys(App& app) {
    if (app.pages.size() > 1) { // of the page below it is known already
        app.pages.close();
        return;
    }
    const KeyContext where = app.context();
    if (where == in_popup && !app.pages.top().chooses && app.pages.top().title == "keys that work here") {
        app.pages.close();
        return;
    }
    std::vector<Line> lines = keys_page(app.settings.keys, where, [&app](Action action) { return why_not(app, action).empty(); });
    app.pages.open({"keys that work here", [lines = std::move(lines)](int) { return lines; }});
}

} // namespace schedscope::tui
