#include "inspector/tui/app.h"

#include "inspector/tui/text.h"
#include "runtime/error.h"

#include <csignal>
#include <utility>

namespace schedscope::tui {

App::App(Session& session, Terminal& terminal, std::string title, int ended_fd)
    : session_(session), terminal_(terminal), title_(std::move(title)), ended_fd_(ended_fd), views_(views().size()) {
    show_view(session_.comparison().running() ? 8 : 1);
    tell(session_.gate() ? "attached: n steps the program, c lets it run, ? shows the keys" : "? shows the keys");
}

int App::run() {
    draw(false); // the list at once: for the details all of the plan is looked through
    while (exit_code_ < 0) {
        if (dirty_) {
            draw();
            dirty_ = false;
        }
        const Terminal::Woken woken =
            terminal_.wait({session_.gate() ? session_.gate()->descriptor() : -1, ended_fd_, session_.comparison().descriptor()},
                           !session_.scanning());
        if (woken.ended_by != 0)
            return 128 + woken.ended_by;
        if (terminal_.hung_up())
            return 128 + SIGHUP;
        if (woken.resized)
            dirty_ = true;
        if (woken.interrupted)
            on_interrupt();
        if (woken.ready[0] || woken.ready[1])
            on_program(woken.ready[1]);
        if (woken.ready[2])
            tell(session_.finish_comparison(), !session_.comparison().error().empty());
        if (woken.input) {
            for (Input input = terminal_.read(); input.kind != Input::Kind::none && exit_code_ < 0; input = terminal_.read())
                on_input(input);
        }
        if (session_.scanning()) {
            if (auto over = session_.scan_slice())
                tell(std::move(*over));
            else
                tell("looking at step " + grouped(session_.scan_position()) + ": Esc stops");
            dirty_ = true;
        }
    }
    return exit_code_;
}

void App::on_program(bool ended) {
    session_.gate()->acknowledge();
    if (ended) {
        session_.set_ended();
        ended_fd_ = -1;
    }
    dirty_ = true;
    if (session_.running())
        return;
    const bool breakpoint = session_.gate()->at_breakpoint();
    const std::string text = session_.refresh();
    const bool interrupted = std::exchange(interrupted_, false) && !breakpoint;
    if (session_.ended()) {
        tell("the program has ended" + (text.empty() ? "" : " · " + text));
    } else if (interrupted) {
        tell("interrupted, the program waits: c lets it go on · " + text);
    } else {
        tell((breakpoint ? "breakpoint: " : "") + (text.empty() ? "held" : text));
    }
}

Context App::context() const { return help_ ? in_help : session_.gate() ? in_live : in_recorded; }

void App::on_input(const Input& input) {
    dirty_ = true;
    if (!layout_.fits && input.kind != Input::Kind::key)
        return;
    update(); // what the keys before did may have changed the rows
    switch (input.kind) {
    case Input::Kind::key: on_key(input.key); break;
    case Input::Kind::click: on_click(input.row, input.col); break;
    case Input::Kind::wheel_up: on_wheel(input.row, input.col, -3); break;
    case Input::Kind::wheel_down: on_wheel(input.row, input.col, 3); break;
    default: break;
    }
}

void App::on_key(Key key) {
    if (session_.scanning()) {
        if (key == key_escape || key == ' ' || key == 'q') {
            tell("stopped looking at step " + grouped(session_.scan_position()));
            session_.stop_scan();
        }
        return;
    }
    if (prompt_) {
        const Prompt::Result result = prompt_->handle(key);
        if (result == Prompt::Result::editing)
            return;
        const std::string text = prompt_->text();
        const auto then = std::move(prompt_then_);
        prompt_.reset();
        if (result == Prompt::Result::accepted)
            then(text);
        return;
    }
    const Action action = action_for(key, context());
    if (action != Action::none)
        perform(action);
    else if (key != key_none)
        tell(key_text(key) + " does nothing here: ? shows the keys that do", true);
}

void App::on_interrupt() {
    dirty_ = true;
    if (session_.scanning())
        on_key(key_escape);
    else if (prompt_)
        on_key(key_escape);
    else if (session_.gate() && !session_.ended())
        perform(Action::hold);
    else
        exit_code_ = 130;
}

void App::on_click(int row, int col) {
    if (session_.scanning())
        return;
    if (help_) {
        help_ = false;
        return;
    }
    const auto hit = [&](const Rect& area, const auto& buttons) -> decltype(&buttons[0]) {
        if (!area.contains(row, col))
            return nullptr;
        for (const auto& button : buttons)
            if (col - area.col >= button.col && col - area.col < button.col + button.width)
                return &button;
        return nullptr;
    };
    if (const auto* key = hit(layout_.keys, key_buttons_)) {
        if (!prompt_)
            perform(key->meaning);
        return;
    }
    if (prompt_)
        return;
    if (const auto* tab = hit(layout_.tabs, tab_buttons_)) {
        show_view(tab->meaning);
    } else if (const auto* pass = hit(layout_.strip, strip_buttons_)) {
        tell(session_.go_pass(pass->meaning));
    } else if (layout_.drawing.contains(row, col)) {
        pane_ = Pane::list;
        if (Drawing* const drawing = view_->drawing()) { // another view may have been opened since the last frame
            select_view_row(drawing->row_at(row - layout_.drawing.row, col - layout_.drawing.col));
        }
    } else if (layout_.list.contains(row, col)) {
        pane_ = Pane::list;
        if (const int line = list_.row_at(row - layout_.list.row); line >= 0)
            select_shown(line);
    } else if (layout_.list_head.contains(row, col)) {
        const std::vector<int> widths = column_widths(view_->columns(), layout_.list.width - 2);
        int at = layout_.list.col + 2;
        for (size_t i = 0; i < widths.size(); ++i) {
            if (widths[i] > 0 && col >= at && col < at + widths[i])
                sort_by(static_cast<int>(i) == sort_column_ ? -1 : static_cast<int>(i));
            at += widths[i] > 0 ? widths[i] + 1 : 0;
        }
    } else if (layout_.detail.contains(row, col)) {
        const int line = detail_list_.row_at(row - layout_.detail.row);
        const bool again = pane_ == Pane::detail && line == detail_list_.selected();
        pane_ = Pane::detail;
        if (line >= 0)
            detail_list_.select(line);
        if (again)
            perform(Action::open);
    }
}

void App::on_wheel(int row, int col, int lines) {
    if (help_)
        help_list_.scroll(lines);
    else if (const Rect& drawn = layout_.drawing; drawn.contains(row, col))
        zoom(row == drawn.row + drawn.height - 1 ? (lines < 0 ? Zoom::left : Zoom::right)
             : lines < 0                         ? Zoom::in
                                                 : Zoom::out,
             col - drawn.col);
    else if (layout_.detail.contains(row, col))
        detail_list_.scroll(lines);
    else if (layout_.list.contains(row, col) && list_.scroll(lines))
        select_shown(list_.selected());
}

void App::move_cursor(Action action) {
    List& list = help_ ? help_list_ : pane_ == Pane::detail ? detail_list_ : list_;
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
    if (help_) { // a page to read: the keys scroll it
        const bool whole = action == Action::top || action == Action::bottom;
        help_list_.scroll(whole ? (action == Action::top ? -help_list_.n_rows() : help_list_.n_rows())
                                : moved.selected() - list.selected());
        help_list_.select(help_list_.top());
        return;
    }
    if (moved.selected() == list.selected()) {
        if (list.n_rows() > 0)
            tell(action == Action::up || action == Action::page_up || action == Action::half_up || action == Action::top
                     ? "this is the first line"
                     : "this is the last line");
        return;
    }
    list = moved;
    if (pane_ == Pane::list)
        select_shown(list_.selected());
}

} // namespace schedscope::tui
