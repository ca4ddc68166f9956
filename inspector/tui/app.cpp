#include "inspector/tui/app.h"

#include "inspector/tui/text.h"
#include "runtime/error.h"

#include <csignal>
#include <utility>

namespace schedscope::tui {

namespace {

/// What wakes the inspector beside the terminal.
enum Waker : size_t { program_stopped, program_ended, comparison_done, picture_done, trace_checked, n_wakers };

} // namespace

App::App(Session& session, Terminal& terminal, Options options)
    : session_(session), terminal_(terminal), title_(std::move(options.title)), ended_fd_(options.ended_fd),
      settings_(std::move(options.settings)), terminal_options_(options.terminal), check_(std::move(options.check_path)) {
    session_.follow = settings_.follow;
    show_view(session_.comparison().running() ? ViewId::what_if : settings_.view);
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
            typed_.preview();
            draw();
            dirty_ = false;
        }
        check_.begin();
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
        if (std::string wrong = check_.finish(); !wrong.empty()) {
            tell(std::move(wrong), true);
        }
    }
}

void App::restore(const SavedSession& kept, bool asked_for_more) {
    trail_.marks = kept.marks;
    for (size_t kind = 0; kind < n_kept_histories; ++kind) {
        typed_.history(static_cast<Typed>(kind)) = kept.typed[kind];
    }
    if (asked_for_more) {
        return;
    }
    const std::string before = told_.trouble ? told_.text : std::string();
    if (kept.place.step >= 0) {
        go_to(kept.place, "");
    }
    try {
        list_.set_filter(Query::parse(kept.filter));
        list_.set_search(Query::parse(kept.search));
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
    kept.filter = list_.filter().text();
    kept.search = list_.search().text();
    kept.breakpoint = breakpoint_.text();
    kept.marks = trail_.marks;
    for (size_t kind = 0; kind < n_kept_histories; ++kind) {
        kept.typed[kind] = typed_.history(static_cast<Typed>(kind));
    }
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
    } else if (breakpoint || !text.empty() || told_.text.starts_with("running")) { // else it was told: one stop may wake us twice
        tell((breakpoint ? "breakpoint: " : "") + (text.empty() ? "held" : text));
    }
}

Context App::context() const { return !pages_.empty() ? in_popup : session_.gate() ? in_live : in_recorded; }

void App::on_input(const Input& input) {
    dirty_ = true;
    if ((!screen_.layout().fits && input.kind != Input::Kind::key) || input.kind == Input::Kind::restyled) {
        return;
    }
    update(); // what the keys before did may have changed the rows
    if (!pages_.empty()) {
        pages_.shape();
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
    if (typed_.open()) {
        typed_.handle(key);
        return;
    }
    if (letter_for_ != Action::none) {
        on_letter(std::exchange(letter_for_, Action::none), key);
        return;
    }
    const Action action = settings_.keys.action_for(key, context());
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
    } else if (typed_.open() || letter_for_ != Action::none) {
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

void App::move_cursor(Action action) {
    const bool in_page = !pages_.empty(), in_detail = !in_page && pane_ == Pane::detail;
    const List& list = in_page ? pages_.top().list : in_detail ? detail_.lines() : list_.lines();
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
    if (in_page && !pages_.top().chooses) { // a page to read: the keys scroll it
        const int all = list.n_rows();
        pages_.scroll(action == Action::top ? -all : action == Action::bottom ? all : by);
        pages_.select(list.top());
    } else if (by == 0) {
        const bool up = action == Action::up || action == Action::page_up || action == Action::half_up || action == Action::top;
        if (list.n_rows() > 0) {
            tell(up ? "this is the first line" : "this is the last line");
        }
    } else if (in_page) {
        pages_.select(moved.selected());
    } else if (in_detail) {
        detail_.select_line(moved.selected());
    } else {
        list_.select_line(moved.selected());
    }
}

} // namespace schedscope::tui
