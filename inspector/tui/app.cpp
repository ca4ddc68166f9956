#include "inspector/tui/app.h"

#include "inspector/tui/text.h"
#include "runtime/error.h"
#include "traces/reader.h"

#include <csignal>
#include <utility>

#include <sys/resource.h>
#include <unistd.h>

namespace schedscope::tui {

namespace {

/// What wakes the inspector beside the terminal.
enum Waker : size_t { program_stopped, program_ended, comparison_done, picture_done, trace_checked, n_wakers };

} // namespace

App::App(Session& session, Terminal& terminal, Options options)
    : session_(session), terminal_(terminal), title_(std::move(options.title)), ended_fd_(options.ended_fd),
      settings_(std::move(options.settings)), terminal_options_(options.terminal), check_path_(std::move(options.check_path)),
      views_(views().size()) {
    session_.follow = settings_.follow;
    show_view(session_.comparison().running() ? 8 : settings_.view);
    const auto key = [&](Action action) { return settings_.keys.key_of(action, context()); };
    if (!options.note.empty()) {
        tell(std::move(options.note), true);
    } else {
        tell((session_.gate()
                  ? "attached: " + key(Action::next_record) + " steps the program, " + key(Action::resume) + " lets it run, "
                  : std::string()) +
             key(Action::help) + " shows the keys");
    }
}

int App::run() {
    draw(false); // the list at once: for the details all of the plan is looked through
    while (exit_code_ < 0) {
        if (dirty_) {
            if (std::exchange(preview_due_, false) && prompt_preview_) { // once for all keys that were waiting
                prompt_preview_(prompt_->text());
            }
            draw();
            dirty_ = false;
        }
        if (!check_path_.empty()) {
            check_trace(std::exchange(check_path_, {}));
        }
        const std::array<int, n_wakers> wakers{session_.gate() ? session_.gate()->descriptor() : -1, ended_fd_,
                                               session_.comparison().descriptor(), picture_.descriptor(), check_.descriptor()};
        const Terminal::Woken woken = terminal_.wait(wakers, !session_.scanning());
        if (woken.ended_by != 0) {
            return 128 + woken.ended_by;
        }
        if (terminal_.hung_up()) {
            return 128 + SIGHUP;
        }
        if (woken.resized) {
            dirty_ = true;
        }
        if (woken.interrupted) {
            on_interrupt();
        }
        on_ready(woken);
        if (woken.input) {
            for (Input input = terminal_.read(); input.kind != Input::Kind::none && exit_code_ < 0; input = terminal_.read()) {
                on_input(input);
            }
        }
        if (session_.scanning()) {
            if (auto over = session_.scan_slice()) {
                tell(std::move(*over));
            } else {
                tell("looking at step " + grouped(session_.scan_position()) + ": Esc stops");
            }
            dirty_ = true;
        }
    }
    return exit_code_;
}

void App::on_ready(const Terminal::Woken& woken) {
    if (woken.ready[program_stopped] || woken.ready[program_ended]) {
        on_program(woken.ready[program_ended]);
    }
    if (woken.ready[comparison_done]) {
        std::string said = session_.finish_comparison();
        tell(std::move(said), !session_.comparison().error().empty());
    }
    if (woken.ready[picture_done]) {
        bool failed = false;
        std::string said = picture_.finish(failed);
        tell(std::move(said), failed);
    }
    if (woken.ready[trace_checked]) {
        const auto outcome = check_.finish();
        const std::string wrong = outcome.result ? outcome.result->value_or("") : outcome.error;
        damaged_ = !wrong.empty();
        if (damaged_) {
            tell(wrong, true);
        }
    }
}

void App::check_trace(const std::string& path) {
    check_.start([path](std::stop_token stop) {
        setpriority(PRIO_PROCESS, static_cast<id_t>(gettid()), 19); // of this thread: keys come first
        return check_integrity(path, std::move(stop));
    });
}

void App::restore(const SavedSession& kept, bool asked_for_more) {
    trail_.marks = kept.marks;
    filters_ = kept.typed[0];
    searches_ = kept.typed[1];
    breakpoints_ = kept.typed[2];
    commands_ = kept.typed[3];
    if (asked_for_more) {
        return;
    }
    const std::string before = trouble_ ? status_ : std::string();
    if (kept.place.step >= 0) {
        go_to(kept.place, "");
    }
    try {
        filter_ = Query::parse(kept.filter);
        search_ = Query::parse(kept.search);
        breakpoint_ = Query::parse(kept.breakpoint);
        tell("as it was left · " + settings_.keys.key_of(Action::help, context()) + " shows the keys");
    } catch (const Error& error) {
        tell(std::string("what was kept of this trace can't be read: ") + error.what(), true);
    }
    if (!before.empty()) {
        tell(before, true);
    }
}

SavedSession App::saved() const {
    SavedSession kept;
    kept.n_steps = session_.last_step() + 1;
    kept.place = here();
    kept.filter = filter_.text();
    kept.search = search_.text();
    kept.breakpoint = breakpoint_.text();
    kept.marks = trail_.marks;
    kept.typed = {filters_, searches_, breakpoints_, commands_};
    return kept;
}

void App::on_program(bool ended) {
    session_.gate()->acknowledge();
    if (ended) {
        session_.set_ended();
        ended_fd_ = -1;
    }
    dirty_ = true;
    if (session_.running()) {
        return;
    }
    const bool breakpoint = session_.gate()->at_breakpoint();
    const std::string text = session_.refresh();
    const bool interrupted = std::exchange(interrupted_, false) && !breakpoint;
    if (session_.ended()) {
        tell("the program has ended" + (text.empty() ? "" : " · " + text));
    } else if (interrupted) {
        tell("interrupted, the program waits: c lets it go on · " + text);
    } else if (breakpoint || !text.empty() || status_.starts_with("running")) { // else it was told: one stop may wake us twice
        tell((breakpoint ? "breakpoint: " : "") + (text.empty() ? "held" : text));
    }
}

Context App::context() const { return !pages_.empty() ? in_popup : session_.gate() ? in_live : in_recorded; }

void App::on_input(const Input& input) {
    dirty_ = true;
    if ((!layout_.fits && input.kind != Input::Kind::key) || input.kind == Input::Kind::restyled) {
        return;
    }
    update(); // what the keys before did may have changed the rows
    if (!pages_.empty()) {
        shape_page();
    }
    switch (input.kind) {
    case Input::Kind::key: on_key(input.key); break;
    case Input::Kind::click: on_click(input.row, input.col); break;
    case Input::Kind::release: on_release(input.row, input.col); break;
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
        const std::string before = prompt_->text();
        const Prompt::Result result = prompt_->handle(key);
        const std::string text = prompt_->text();
        if (result == Prompt::Result::editing) {
            if (text != before) {
                preview_due_ = true;
            }
            return;
        }
        const auto then = std::move(prompt_then_);
        prompt_.reset();
        end_preview();
        if (result == Prompt::Result::accepted) {
            then(text);
        }
        return;
    }
    if (letter_for_ != Action::none) {
        on_letter(std::exchange(letter_for_, Action::none), key);
        return;
    }
    const Action action = settings_.keys.action_for(key, context());
    if (!session_.running()) { // what was told was of the key before
        tell("");
    }
    if (action != Action::none) {
        perform(action);
    } else if (key != key_none) {
        tell(key_text(key) + " does nothing here: " + settings_.keys.key_of(Action::help, context()) + " shows the keys that do",
             true);
    }
}

void App::on_interrupt() {
    dirty_ = true;
    if (session_.scanning()) {
        on_key(key_escape);
    } else if (prompt_ || letter_for_ != Action::none) {
        on_key(key_escape);
    } else if (picture_.running()) {
        picture_.cancel();
    } else if (session_.comparison().running()) {
        stop_comparison();
    } else if (session_.gate() && !session_.ended()) {
        perform(Action::hold);
    } else {
        exit_code_ = 130;
    }
}

void App::on_click(int row, int col) {
    if (session_.scanning()) {
        return;
    }
    letter_for_ = Action::none;
    if (!prompt_ && !session_.running()) {
        tell("");
    }
    if (!pages_.empty()) {
        on_click_in_page(row, col);
        return;
    }
    const auto hit = [&](const Rect& area, const auto& buttons) -> decltype(&buttons[0]) {
        if (!area.contains(row, col)) {
            return nullptr;
        }
        for (const auto& button : buttons) {
            if (col - area.col >= button.col && col - area.col < button.col + button.width) {
                return &button;
            }
        }
        return nullptr;
    };
    if (const auto* key = hit(layout_.keys, key_buttons_)) {
        if (!prompt_) {
            perform(key->meaning);
        }
        return;
    }
    if (prompt_) {
        return;
    }
    if (const auto* crumb = hit({0, 0, 1, terminal_.cols()}, crumbs_)) {
        crumb->meaning();
    } else if (const auto* tab = hit(layout_.tabs, tab_buttons_)) {
        show_view(tab->meaning);
    } else if (const auto* pass = hit(layout_.strip, strip_buttons_)) {
        jump([&] { return session_.go_pass(pass->meaning); });
    } else if (layout_.drawing.contains(row, col)) {
        pane_ = Pane::list;
        if (Drawing* const drawing = view_->drawing()) { // another view may have been opened since the last frame
            select_view_row(drawing->row_at(row - layout_.drawing.row, col - layout_.drawing.col));
        }
    } else if (layout_.list.contains(row, col)) {
        const Pane was = std::exchange(pane_, Pane::list);
        if (const int line = list_.row_at(row - layout_.list.row); line >= 0) {
            const bool again = was == Pane::list && line == list_.selected();
            select_shown(line);
            if (again) {
                perform(Action::open);
            }
        }
    } else if (col == layout_.middle && row > layout_.upper && row < layout_.lower) {
        dragging_ = true;
        tell("drag it to where the line shall be");
    } else if (layout_.list_head.contains(row, col)) {
        const std::vector<int> widths = column_widths(view_->columns(), layout_.list.width - 2);
        int at = layout_.list.col + 2;
        for (size_t i = 0; i < widths.size(); ++i) {
            if (widths[i] == 0) {
                continue;
            }
            at += column_gap(view_->columns(), i, layout_.list.width - 2);
            if (col >= at && col < at + widths[i]) {
                sort_by(static_cast<int>(i) == sort_column_ ? -1 : static_cast<int>(i));
            }
            at += widths[i];
        }
    } else if (layout_.detail.contains(row, col)) {
        const int line = detail_list_.row_at(row - layout_.detail.row);
        const bool again = pane_ == Pane::detail && line == detail_list_.selected();
        pane_ = Pane::detail;
        if (line >= 0) {
            detail_list_.select(line);
        }
        if (again) {
            perform(Action::open);
        }
    }
}

void App::on_click_in_page(int row, int col) {
    if (!page_area_.contains(row, col)) {
        pages_.pop_back();
        return;
    }
    Page& page = pages_.back();
    const int line = page.list.row_at(row - page_area_.row - 1);
    if (!page.chooses || line < 0) {
        return;
    }
    const bool again = line == page.list.selected();
    page.list.select(line);
    if (again) {
        perform(Action::open);
    }
}

/// Terminals tell where a button was let go, and few where it has been in between.
void App::on_release(int row, int col) {
    if (!std::exchange(dragging_, false) || !pages_.empty() || prompt_) {
        return;
    }
    const int inner = std::max(terminal_.cols() - 2, 1);
    if (col != layout_.middle && row > 0) {
        set_list_width((col - 1) * 100 / inner + 1);
    }
}

void App::set_list_width(int percent) {
    settings_.list_width = std::clamp(percent, 10, 90);
    tell("the list has " + std::to_string(*settings_.list_width) + "% of the screen, as far as there is room");
}

void App::on_wheel(int row, int col, int lines) {
    if (!pages_.empty()) {
        pages_.back().list.scroll(lines);
    } else if (const Rect& drawn = layout_.drawing; drawn.contains(row, col)) {
        zoom(row == drawn.row + drawn.height - 1 ? (lines < 0 ? Zoom::left : Zoom::right)
             : lines < 0                         ? Zoom::in
                                                 : Zoom::out,
             col - drawn.col);
    } else if (layout_.detail.contains(row, col)) {
        detail_list_.scroll(lines);
    } else if (layout_.list.contains(row, col) && list_.scroll(lines)) {
        select_shown(list_.selected());
    }
}

void App::move_cursor(Action action) {
    Page* const page = pages_.empty() ? nullptr : &pages_.back();
    List& list = page ? page->list : pane_ == Pane::detail ? detail_list_ : list_;
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
    if (page && !page->chooses) { // a page to read: the keys scroll it
        const bool whole = action == Action::top || action == Action::bottom;
        list.scroll(whole ? (action == Action::top ? -list.n_rows() : list.n_rows()) : moved.selected() - list.selected());
        list.select(list.top());
        return;
    }
    if (moved.selected() == list.selected()) {
        const bool up = action == Action::up || action == Action::page_up || action == Action::half_up || action == Action::top;
        if (list.n_rows() > 0) {
            tell(up ? "this is the first line" : "this is the last line");
        }
        return;
    }
    list = moved;
    if (!page && pane_ == Pane::list) {
        select_shown(list_.selected());
    }
}

} // namespace schedscope::tui
