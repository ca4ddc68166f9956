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

void App::update_detail() {
    if (screen.layout().detail.width > 0) {
        detail.update(session, list, screen.layout().detail, pane == Pane::list);
    }
}

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

std::vector<std::string> App::lay_out(bool with_details) {
    const Layout& layout = screen.layout();
    constexpr int rows_for_whole_guide = 20;
    std::vector<std::string> guiding = guide.lines(*this, terminal.cols() - 4, terminal.rows() < rows_for_whole_guide ? 1 : 4);
    Layout::Wishes wishes;
    wishes.list_percent = settings.list_width;
    wishes.guide_rows = n_of(guiding);
    screen.lay_out(wishes);
    if (!layout.fits) {
        return guiding;
    }
    list.set_room(layout);
    update();
    const Drawing* const drawing = list.view().drawing();
    const int body_rows = Layout::body_rows(terminal.rows() - wishes.guide_rows);
    wishes.drawing_rows = drawing ? drawing->rows(session, body_rows, layout.strip.width) : 0;
    wishes.details = list.n_rows() > 0;
    wishes.in_details = pane == Pane::detail;
    wishes.list_width = list.wanted_width();
    screen.lay_out(wishes);
    list.set_room(layout);
    list.fit();
    if (with_details) {
        update_detail();
    }
    detail.resize(layout.detail.height);
    return guiding;
}

void App::draw(bool with_details) {
    const std::vector<std::string> guiding = lay_out(with_details);
    const Canvas page = terminal.page();
    const Layout& layout = screen.layout();
    if (!layout.fits) {
        screen.draw_too_small(page);
        terminal.show();
        return;
    }
    screen.draw_frame(page);
    screen.draw_header(page, session, title);
    screen.draw_strip(page, session);
    screen.draw_tabs(page, list.id());
    if (layout.list.width > 0) {
        list.draw(page, layout, pane == Pane::list);
    }
    if (layout.detail.width > 0) {
        detail.draw(page, session, list, layout, pane == Pane::detail);
    }
    screen.draw_guide(page, guiding);
    if (typed.open()) {
        typed.draw(page, layout.status, layout.keys);
    } else {
        screen.draw_status(page, told_, standing());
        if (session.scanning() || letter_for != Action::none) {
            screen.draw_hint(page, session.scanning() ? "Esc stop" : "a … z  Esc cancel");
        } else {
            screen.draw_keys(page, settings.keys, context(), [this](Action action) {
                const bool opens_nothing = action == Action::open && why_not(*this, Action::turn_breakpoint).empty();
                return !opens_nothing && why_not(*this, action).empty(); // Enter turns a breakpoint, as the key beside it says
            });
        }
    }
    if (!pages.empty()) {
        pages.draw(n_of(guiding));
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
    if (const Breakpoints& breakpoints = session.breakpoints(); !breakpoints.empty()) {
        marks.push_back(breakpoints.standing());
    }
    if (!session.follow) {
        marks.emplace_back("selection stays");
    }
    if (session.program() && session.program()->will_be_held()) {
        marks.emplace_back("held at the next record");
    }
    if (session.runs_free()) {
        marks.push_back(session.follows_run() ? "following" : "not following: " + key_of(Action::follow_run) + " follows");
    }
    if (session.comparison().running()) {
        marks.emplace_back(session.comparison().stopping() ? "stopping" : "comparing, Esc stops");
    }
    if (!file_changed_.empty()) {
        marks.push_back(file_changed_);
    } else if (!check_.mark().empty()) {
        marks.emplace_back(check_.mark());
    }
    for (const FileRun* const file : {&save, &picture}) {
        if (file->running()) {
            marks.push_back(file->doing() + ", Esc stops");
        }
    }
    return marks;
}

} // namespace schedscope::tui
