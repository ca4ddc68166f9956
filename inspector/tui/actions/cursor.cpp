#include "inspector/tui/actions/cursor.h"

#include "inspector/tui/actions/jumps.h"

namespace schedscope::tui {

void move_cursor(App& app, Action action) {
    const bool in_page = !app.pages.empty(), in_detail = !in_page && app.pane == App::Pane::detail;
    const List& list = in_page ? app.pages.top().list : in_detail ? app.detail.lines() : app.list.lines();
    List moved = list;
    switch (action) {
    case Action::up: moved.move(-1); break;
    case Action::down: moved.move(1); break;
    case Action::page_up: moved.page(-1); break;
    case Action::page_down: moved.page(1); break;
    case Action::half_up: moved.half_page(-1); break;
    case Action::half_down: moved.half_page(1); break;
    case Action::top: moved.select(0); break;
    default: moved.select(moved.n_rows() - 1); break;
    }
    const int by = moved.selected() - list.selected();
    if (!in_page && app.session.runs_free()) {
        app.session.stop_following(); // also where there is nothing to move over yet: this place is to stay
    }
    if (in_page && !app.pages.top().chooses) { // a page to read: the keys scroll it
        const int all = list.n_rows();
        app.pages.scroll(action == Action::top ? -all : action == Action::bottom ? all : by);
        app.pages.select(list.top());
    } else if (by == 0) {
        const bool up = action == Action::up || action == Action::page_up || action == Action::half_up || action == Action::top;
        if (list.n_rows() > 0) {
            app.tell(up ? "this is the first line" : "this is the last line");
        }
    } else if (in_page) {
        app.pages.stand_at(moved);
    } else if (in_detail) {
        app.detail.stand_at(moved);
    } else {
        app.list.stand_at(moved);
        app.list.select_line(moved.selected());
    }
}

void open_selected(App& app) {
    if (!app.pages.empty()) {
        const Target target = app.pages.target();
        if (target.kind != Target::Kind::none && target.kind != Target::Kind::breakpoint) {
            app.pages.close_all();
        }
        open(app, target);
        return;
    }
    app.update_detail();
    open(app, app.pane == App::Pane::list ? app.list.view().open(app.session, app.list.selected_row()) : app.detail.target());
}

void zoom(App& app, Zoom how, int column) {
    if (Drawing* const drawing = app.list.view().drawing(); drawing && drawing->zoom(how, column)) {
        app.tell(drawing->title(app.session));
    }
}

} // namespace schedscope::tui
