// A frame: everything is drawn from the state; curses sends the terminal what differs.
#include "inspector/tui/actions/actions.h"
#include "inspector/tui/app.h"

namespace schedscope::tui {

void App::update() {
    list.update();
    if (list.n_rows() == 0) { // there are no details to stand in
        pane = Pane::list;
    }
}

void App::update_detail() { detail.update(session, list, screen.layout().detail, pane == Pane::list); }

/// What can't be read is said instead of it, and the next key tries again.
void App::draw_frame() {
    if (!attempt([&] {
            typed.preview();
            draw();
        })) {
        const Canvas page = terminal.page();
        screen.draw_trouble(page, title, told_.text, key_of(Action::close));
        terminal.show();
    }
}

void App::draw(bool with_details) {
    const Canvas page = terminal.page();
    const Layout& layout = screen.layout();
    screen.lay_out(settings.list_width);
    if (!layout.fits) {
        screen.draw_too_small(page);
        terminal.show();
        return;
    }
    list.set_room(layout);
    update();
    const Drawing* const drawing = list.view().drawing();
    const int drawing_rows = drawing ? drawing->rows(session, Layout::body_rows(terminal.rows()), layout.strip.width) : 0;
    screen.lay_out(settings.list_width, drawing_rows, list.n_rows() > 0);
    list.set_room(layout);
    list.fit();
    if (with_details) {
        update_detail();
    }
    detail.resize(layout.detail.height);

    screen.draw_frame(page);
    screen.draw_header(page, session, title);
    screen.draw_strip(page, session);
    screen.draw_tabs(page, list.id());
    list.draw(page, layout, pane == Pane::list);
    detail.draw(page, session, list, layout, pane == Pane::detail);
    if (typed.open()) {
        typed.draw(page, layout.status, layout.keys);
    } else {
        screen.draw_status(page, told_, standing());
        if (session.scanning() || letter_for != Action::none) {
            screen.draw_hint(page, session.scanning() ? "Esc stop" : "a … z  Esc cancel");
        } else {
            screen.draw_keys(page, settings.keys, context(), [this](Action action) { return why_not(*this, action).empty(); });
        }
    }
    if (!pages.empty()) {
        pages.draw();
    }
    if (typed.open() && pages.empty()) {
        terminal.show(layout.status.row, typed.cursor_column(layout.status));
    } else {
        terminal.show();
    }
}

std::vector<std::string> App::standing() const {
    std::vector<std::string> marks;
    if (!list.filter().empty()) {
        marks.push_back("only " + list.filter().text());
    }
    if (!breakpoint.empty()) {
        marks.push_back("break " + breakpoint.text());
    }
    if (!session.follow) {
        marks.emplace_back("not following");
    }
    if (session.comparison().running()) {
        marks.emplace_back(session.comparison().stopping() ? "stopping" : "comparing, Esc stops");
    }
    if (!file_changed_.empty()) {
        marks.push_back(file_changed_);
    } else if (!check_.mark().empty()) {
        marks.emplace_back(check_.mark());
    }
    if (picture.running()) {
        marks.push_back("drawing " + picture.path() + ", Esc stops");
    }
    return marks;
}

} // namespace schedscope::tui
