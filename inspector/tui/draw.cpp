// A frame: everything is drawn anew from the state; curses sends the terminal what differs.
#include "inspector/tui/app.h"

namespace schedscope::tui {

void App::update() {
    list_.update();
    if (list_.n_rows() == 0) { // there are no details to stand in
        pane_ = Pane::list;
    }
}

void App::update_detail() { detail_.update(session_, list_, screen_.layout().detail, pane_ == Pane::list); }

void App::draw(bool with_details) {
    const Canvas page = terminal_.page();
    const Layout& layout = screen_.layout();
    screen_.lay_out(settings_.list_width);
    if (!layout.fits) {
        screen_.draw_too_small(page);
        terminal_.show();
        return;
    }
    list_.set_room(layout);
    update();
    const Drawing* const drawing = list_.view().drawing();
    const int drawing_rows = drawing ? drawing->rows(session_, Layout::body_rows(terminal_.rows()), layout.strip.width) : 0;
    screen_.lay_out(settings_.list_width, drawing_rows, list_.n_rows() > 0);
    list_.set_room(layout);
    list_.fit();
    if (with_details) {
        update_detail();
    }
    detail_.resize(layout.detail.height);

    screen_.draw_frame(page);
    screen_.draw_header(page, session_, title_);
    screen_.draw_strip(page, session_);
    screen_.draw_tabs(page, list_.id());
    list_.draw(page, layout, pane_ == Pane::list);
    detail_.draw(page, session_, list_, layout, pane_ == Pane::detail);
    if (typed_.open()) {
        typed_.draw(page, layout.status, layout.keys);
    } else {
        screen_.draw_status(page, told_, standing());
        if (session_.scanning() || letter_for_ != Action::none) {
            screen_.draw_hint(page, session_.scanning() ? "Esc stop" : "a … z  Esc cancel");
        } else {
            screen_.draw_keys(page, settings_.keys, context(), [this](Action action) { return why_not(action).empty(); });
        }
    }
    if (!pages_.empty()) {
        pages_.draw();
    }
    if (typed_.open() && pages_.empty()) {
        terminal_.show(layout.status.row, typed_.cursor_column(layout.status));
    } else {
        terminal_.show();
    }
}

std::vector<std::string> App::standing() const {
    std::vector<std::string> marks;
    if (!list_.filter().empty()) {
        marks.push_back("only " + list_.filter().text());
    }
    if (!breakpoint_.empty()) {
        marks.push_back("break " + breakpoint_.text());
    }
    if (!session_.follow) {
        marks.emplace_back("not following");
    }
    if (session_.comparison().running()) {
        marks.emplace_back(session_.comparison().stopping() ? "stopping" : "comparing, Esc stops");
    }
    if (check_.found_damage()) {
        marks.emplace_back("the trace is damaged");
    }
    if (picture_.running()) {
        marks.push_back("drawing " + picture_.path() + ", Esc stops");
    }
    return marks;
}

} // namespace schedscope::tui
