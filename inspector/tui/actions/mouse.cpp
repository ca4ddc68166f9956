// What the mouse does.
#include "inspector/tui/actions/actions.h"
#include "inspector/tui/actions/cursor.h"
#include "inspector/tui/actions/finding.h"
#include "inspector/tui/app.h"

#include <algorithm>
#include <utility>

namespace schedscope::tui {

void App::on_click(int row, int col) {
    if (session.scanning()) {
        return;
    }
    letter_for = Action::none;
    if (!typed.open() && !session.running()) {
        tell("");
    }
    if (!pages.empty()) {
        const Screen::Clicked key = row == screen.layout().keys.row ? screen.button_at(row, col) : Screen::Clicked{};
        if (const auto* const action = std::get_if<Action>(&key)) {
            perform(*this, *action);
        } else if (pages.click(row, col)) {
            perform(*this, Action::open);
        }
        return;
    }
    if (typed.open()) {
        return;
    }
    const Layout& layout = screen.layout();
    const Screen::Clicked clicked = screen.button_at(row, col);
    if (const auto* const action = std::get_if<Action>(&clicked)) {
        perform(*this, *action);
    } else if (const auto* const view = std::get_if<ViewId>(&clicked)) {
        show_view(*view);
    } else if (const auto* const pass = std::get_if<PassPlace>(&clicked)) {
        jump([&] { return session.go_pass(pass->pass, pass->unit); });
    } else if (layout.drawing.contains(row, col)) {
        pane = Pane::list;
        if (Drawing* const drawing = list.view().drawing()) { // another view may have been opened since the last frame
            list.select_row(drawing->row_at(row - layout.drawing.row, col - layout.drawing.col));
        }
    } else if (layout.list.contains(row, col)) {
        const Pane was = std::exchange(pane, Pane::list);
        if (const int line = list.lines().row_at(row - layout.list.row); line >= 0) {
            const bool again = was == Pane::list && line == list.lines().selected();
            list.select_line(line);
            if (again) {
                perform(*this, Action::open);
            }
        }
    } else if (col == layout.middle && row > layout.upper && row < layout.lower) {
        dragging_ = true;
        tell("drag it to where the line shall be");
    } else if (layout.list_head.contains(row, col)) {
        if (const int column = list.column_at(col - layout.list_head.col); column >= 0) {
            sort_by(*this, column == list.sorted_by() ? -1 : column);
        }
    } else if (layout.detail.contains(row, col)) {
        const int line = detail.lines().row_at(row - layout.detail.row);
        const bool again = pane == Pane::detail && line == detail.lines().selected();
        pane = Pane::detail;
        if (line >= 0) {
            detail.select_line(line);
        }
        if (again) {
            perform(*this, Action::open);
        }
    }
}

/// Terminals tell where a button was let go, and few where it has been in between.
void App::on_release(int row, int col) {
    if (!std::exchange(dragging_, false) || !pages.empty() || typed.open()) {
        return;
    }
    const int inner = std::max(terminal.cols() - 2, 1);
    if (col != screen.layout().middle && row > 0) {
        set_list_width((col - 1) * 100 / inner + 1);
    }
}

void App::on_wheel(int row, int col, int lines) {
    const Layout& layout = screen.layout();
    if (!pages.empty()) {
        pages.scroll(lines);
    } else if (const Rect& drawn = layout.drawing; drawn.contains(row, col)) {
        zoom(*this,
             row == drawn.row + drawn.height - 1 ? (lines < 0 ? Zoom::left : Zoom::right)
             : lines < 0                         ? Zoom::in
                                                 : Zoom::out,
             col - drawn.col);
    } else if (layout.detail.contains(row, col)) {
        detail.scroll(lines);
    } else if (layout.list.contains(row, col)) {
        list.scroll(lines);
    }
}

} // namespace schedscope::tui
