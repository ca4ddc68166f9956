// What the mouse does.
#include "inspector/tui/app.h"

#include <algorithm>
#include <utility>

namespace schedscope::tui {

void App::on_click(int row, int col) {
    if (session_.scanning()) {
        return;
    }
    letter_for_ = Action::none;
    if (!pages_.empty()) {
        if (pages_.click(row, col)) {
            perform(Action::open);
        }
        return;
    }
    if (typed_.open()) {
        return;
    }
    const Layout& layout = screen_.layout();
    const Screen::Clicked clicked = screen_.button_at(row, col);
    if (const auto* const action = std::get_if<Action>(&clicked)) {
        perform(*action);
    } else if (const auto* const view = std::get_if<ViewId>(&clicked)) {
        show_view(*view);
    } else if (const auto* const pass = std::get_if<Pass>(&clicked)) {
        jump([&] { return session_.go_pass(*pass); });
    } else if (layout.drawing.contains(row, col)) {
        pane_ = Pane::list;
        if (Drawing* const drawing = list_.view().drawing()) { // another view may have been opened since the last frame
            list_.select_row(drawing->row_at(row - layout.drawing.row, col - layout.drawing.col));
        }
    } else if (layout.list.contains(row, col)) {
        const Pane was = std::exchange(pane_, Pane::list);
        if (const int line = list_.lines().row_at(row - layout.list.row); line >= 0) {
            const bool again = was == Pane::list && line == list_.lines().selected();
            list_.select_line(line);
            if (again) {
                perform(Action::open);
            }
        }
    } else if (col == layout.middle && row > layout.upper && row < layout.lower) {
        dragging_ = true;
        tell("drag it to where the line shall be");
    } else if (layout.list_head.contains(row, col)) {
        if (const int column = list_.column_at(col - layout.list_head.col); column >= 0) {
            sort_by(column == list_.sorted_by() ? -1 : column);
        }
    } else if (layout.detail.contains(row, col)) {
        const int line = detail_.lines().row_at(row - layout.detail.row);
        const bool again = pane_ == Pane::detail && line == detail_.lines().selected();
        pane_ = Pane::detail;
        if (line >= 0) {
            detail_.select_line(line);
        }
        if (again) {
            perform(Action::open);
        }
    }
}

/// Terminals tell where a button was let go, and few where it has been in between.
void App::on_release(int row, int col) {
    if (!std::exchange(dragging_, false) || !pages_.empty() || typed_.open()) {
        return;
    }
    const int inner = std::max(terminal_.cols() - 2, 1);
    if (col != screen_.layout().middle && row > 0) {
        set_list_width((col - 1) * 100 / inner + 1);
    }
}

void App::on_wheel(int row, int col, int lines) {
    const Layout& layout = screen_.layout();
    if (!pages_.empty()) {
        pages_.scroll(lines);
    } else if (const Rect& drawn = layout.drawing; drawn.contains(row, col)) {
        zoom(row == drawn.row + drawn.height - 1 ? (lines < 0 ? Zoom::left : Zoom::right)
             : lines < 0                         ? Zoom::in
                                                 : Zoom::out,
             col - drawn.col);
    } else if (layout.detail.contains(row, col)) {
        detail_.scroll(lines);
    } else if (layout.list.contains(row, col)) {
        list_.scroll(lines);
    }
}

} // namespace schedscope::tui
