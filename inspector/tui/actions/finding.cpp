#include "inspector/tui/actions/finding.h"

#include "inspector/tui/actions/ask_query.h"
#include "inspector/tui/terminal/text.h"
#include "runtime/numbers.h"
#include "runtime/system/joined.h"

#include <algorithm>

namespace schedscope::tui {

void ask_search(App& app) { ask_query(app, "/", Typed::search, {}, search_for, &QueryPreview::search); }

void ask_filter(App& app) { ask_query(app, "show only ", Typed::filter, app.list.filter(), set_filter, &QueryPreview::filter); }

void search_for(App& app, const std::string& text) {
    const bool fresh = !text.empty() && text != app.list.search().text();
    if (!text.empty()) { // one that was kept from another time is checked, too
        app.list.set_search(app.session.query(text));
    }
    if (app.list.search().empty()) {
        app.tell("nothing was searched", true);
        return;
    }
    const TrailPlace from = app.here();
    find(app, true, fresh);
    app.came_from(from);
}

void find(App& app, bool forward, bool from_here) {
    app.update();
    const int before = app.list.lines().selected(), n = app.list.n_lines();
    const int first = n == 0 || from_here ? before : (before + (forward ? 1 : n - 1)) % n;
    const int shown = app.list.find(first, forward);
    if (shown < 0) {
        app.tell("no line of this list matches " + app.list.search().text(), true);
        return;
    }
    app.list.select_line(shown);
    const bool wrapped = forward ? shown < before : shown > before;
    app.tell("found " + app.list.view().detail_title(app.session, app.list.selected_row()) +
             (shown == before && !from_here ? ": the only line that matches"
              : wrapped                     ? ", from the other end of the list"
                                            : "") +
             " · . next  , previous");
}

void set_filter(App& app, const std::string& text) {
    app.list.set_filter(app.session.query(text));
    app.update();
    if (!app.list.why_hidden(app.session.selected()).empty()) { // keys act on what is highlighted
        app.list.select_line(app.list.lines().selected());
    }
    if (app.list.filter().empty()) {
        app.tell("all " + counted(app.list.n_rows(), "line"));
    } else {
        app.tell(words::count(app.list.n_lines()) + " of " + counted(app.list.n_rows(), "line") + " match " + text,
                 app.list.n_lines() == 0);
    }
}

void sort_by(App& app, int column) {
    app.list.sort_by(column);
    app.update();
    if (column < 0) {
        app.tell("in the order of evaluation");
    } else {
        app.tell("ordered by " + std::string(app.list.columns()[column].title));
    }
}

void sort_by_title(App& app, const std::string& title) {
    const auto columns = app.list.columns();
    if (title.empty()) {
        sort_by(app, -1);
        return;
    }
    const auto found =
        std::find_if(columns.begin(), columns.end(), [&](const tables::Column& c) { return c.title.starts_with(title); });
    if (found != columns.end()) {
        sort_by(app, int_of(found - columns.begin()));
        return;
    }
    app.tell("no column '" + title + "': there are " + joined(columns, ", ", &tables::Column::title), true);
}

} // namespace schedscope::tui
