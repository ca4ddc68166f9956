#include "inspector/tui/app.h"

#include "inspector/tui/actions/actions.h"
#include "inspector/tui/actions/comparing.h"
#include "inspector/tui/actions/jumps.h"
#include "inspector/tui/actions/marks.h"
#include "inspector/tui/actions/show_page.h"
#include "inspector/tui/terminal/text.h"
#include "runtime/error.h"

#include <csignal>
#include <tuple>
#include <utility>

namespace schedscope::tui {

namespace {

/// What wakes the inspector beside the terminal.
enum Waker : size_t {
    program_stopped,
    program_ended,
    program_wrote,
    comparison_done,
    levers_done,
    picture_done,
    save_done,
    trace_checked,
    n_wakers
};

} // namespace

App::App(InspectorSession& session, Terminal& terminal, Options options)
    : session(session), terminal(terminal), title(std::move(options.title)), settings(std::move(options.settings)),
      terminal_options(options.terminal), files_in_use(std::move(options.files_in_use)),
      trace_path(std::move(options.trace_path)), keeps_texts(options.keeps_texts), output(std::move(options.output)),
      check_(std::move(options.check_path)), changed_(std::move(options.changed)), how_ended_(std::move(options.how_ended)),
      why_nothing_yet_(std::move(options.why_nothing_yet)), stop_(std::move(options.stop)) {
    if (stop_) {
        looks_for_stop_ = std::shared_ptr<void>(nullptr, [stop = stop_](void*) { stop->look_by({}); });
        stop_->look_by([this] { return this->terminal.is_asked_to_stop(!typed.open()); });
    }
    session.follow = settings.follow;
    session.show_unknown(settings.unknown);
    show_view(session.comparison().running() ? ViewId::what_if : settings.view);
    if (options.guided) {
        guide.begin(*this);
    }
    const auto key = [&](Action action) { return settings.keys.key_of(action, context()); };
    if (!options.note.empty()) {
        tell(std::move(options.note), true);
    } else {
        tell((session.program() && session.step() == no_step
                  ? "nothing is planned yet" + std::string(output ? ", :output shows what the program writes; " : "; ")
              : session.program()
                  ? "attached: " + key(Action::next_record) + " steps the program, " + key(Action::resume) + " lets it run, "
                  : std::string()) +
             key(Action::help) + " shows the keys");
    }
}

bool App::attempt(const std::function<void()>& what) {
    try {
        what();
        return true;
    } catch (const Interrupted&) {
        if (stop_) {
            stop_->clear();
        }
        tell("stopped", true);
    } catch (const Error& error) {
        tell(error.what(), true);
    }
    return false;
}

int App::run() {
    draw(false); // the list at once: for the details all of the plan is looked through
    while (!is_left()) {
        turn(true);
    }
    if (bool failed = false; save.running() && exit_code_ == 0) { // who saves and quits means both
        if (std::string said = save.finish(failed); failed) {
            throw Error(ErrorKind::device, said);
        }
    }
    return exit_code_;
}

bool App::turn(bool wait) {
    if (dirty_) {
        draw_frame();
        dirty_ = false;
    }
    check_.begin();
    const LiveProgram* const program = session.program();
    const std::array<int, n_wakers> wakers{program ? program->descriptor() : -1,
                                           program ? program->ended_descriptor() : -1,
                                           output ? output->descriptor() : -1,
                                           session.comparison().descriptor(),
                                           session.levers_descriptor(),
                                           picture.descriptor(),
                                           save.descriptor(),
                                           check_.descriptor()};
    const Terminal::Woken woken = terminal.wait(wakers, wait && !session.scanning());
    if (woken.ended_by != 0) {
        quit(128 + woken.ended_by);
    }
    if (terminal.hung_up()) {
        quit(128 + SIGHUP);
    }
    if (is_left()) {
        return true;
    }
    if (woken.resized) { // before the keys typed since: on a screen that is too small they do nothing
        draw_frame();
    }
    if (woken.interrupted) {
        on_interrupt();
    }
    attempt([&] { on_ready(woken); });
    if (woken.input) {
        for (Input input = terminal.read(); input.kind != Input::Kind::none && !is_left(); input = terminal.read()) {
            on_input(input);
        }
        look_at_file();
    }
    if (session.scanning()) {
        const bool read = attempt([&] {
            if (auto over = session.scan_slice()) {
                tell(std::move(*over));
            } else {
                tell("looking at step " + words::count(session.scan_position()) + ": Esc stops");
            }
        });
        if (!read) {
            session.stop_scan();
        }
        dirty_ = true;
    }
    return dirty_ || woken.input;
}

FileRun* App::running_file() noexcept { return picture.running() ? &picture : save.running() ? &save : nullptr; }

void App::on_ready(const Terminal::Woken& woken) {
    if (woken.ready[program_stopped] || woken.ready[program_ended]) {
        on_program(woken.ready[program_ended]);
    }
    if (woken.ready[program_wrote] && output->look() && !pages.empty()) {
        dirty_ = true;
    }
    if (woken.ready[comparison_done]) {
        std::string said = session.finish_comparison();
        tell(std::move(said), !session.comparison().error().empty());
    }
    if (woken.ready[levers_done]) {
        session.finish_levers();
        dirty_ = true;
    }
    for (const auto& [done, file] : {std::pair{picture_done, &picture}, std::pair{save_done, &save}}) {
        if (woken.ready[done]) {
            bool failed = false;
            std::string said = file->finish(failed);
            tell(std::move(said), failed);
        }
    }
    if (woken.ready[trace_checked]) {
        look_at_file(); // what was checked may be another one
        if (std::string wrong = check_.finish(); !wrong.empty() && file_changed_.empty()) {
            tell(std::move(wrong), true);
        }
    }
}

/// Once: what became of the file.
void App::look_at_file() {
    if (std::string what = changed_ && file_changed_.empty() ? changed_() : std::string(); !what.empty()) {
        file_changed_ = "the file " + what.substr(0, what.find(':'));
        if (!told_.trouble) {
            tell(title + " " + std::move(what), true);
        }
    }
}

static_assert(std::tuple_size_v<decltype(SavedSession::typed)> == n_kept_histories);

void App::restore(const SavedSession& kept, bool asked_for_more) {
    trail.marks = kept.marks;
    for (size_t kind = 0; kind < n_kept_histories; ++kind) {
        typed.history(static_cast<Typed>(kind)) = kept.typed[kind];
    }
    if (asked_for_more) {
        return;
    }
    const std::string before = told_.trouble ? told_.text : std::string();
    if (kept.place.step >= 0) {
        go_to(*this, kept.place, "");
    }
    try {
        list.set_filter(Query::parse(kept.filter));
        list.set_search(Query::parse(kept.search));
        session.change_breakpoints([&](Breakpoints& breakpoints) {
            for (const SavedSession::SavedBreakpoint& b : kept.breakpoints) {
                breakpoints.add(Query::parse(b.query), b.enabled);
            }
        });
        tell("as it was left · " + settings.keys.key_of(Action::help, context()) + " shows the keys");
    } catch (const Error& error) {
        tell(std::string("what was kept of this trace can't be read: ") + error.what(), true);
    }
    if (!before.empty()) {
        tell(before, true);
    }
}

SavedSession App::saved() const {
    SavedSession kept;
    kept.n_steps = session.last_step() + 1;
    kept.place = here();
    kept.filter = list.filter().text();
    kept.search = list.search().text();
    for (int i = 0; i < session.breakpoints().size(); ++i) {
        const Breakpoint& b = session.breakpoints()[i];
        kept.breakpoints.push_back({b.query.text(), b.enabled});
    }
    kept.marks = trail.marks;
    for (size_t kind = 0; kind < n_kept_histories; ++kind) {
        kept.typed[kind] = typed.history(static_cast<Typed>(kind));
    }
    return kept;
}

void App::on_program(bool ended) {
    using HowStopped = LiveProgram::HowStopped;
    dirty_ = true;
    const HowStopped event = session.program()->look(ended);
    if (event == HowStopped::none) {
        session.follow_run();
        if (std::string why = why_nothing_yet_ && session.last_step() < 0 ? why_nothing_yet_() : std::string(); !why.empty()) {
            tell(std::move(why));
        }
        return;
    }
    const std::string text = session.refresh(); // empty: something else is looked at
    switch (event) {
    case HowStopped::ended:
        if (const std::string how = how_ended_ ? how_ended_() : std::string(); !how.empty()) {
            tell("the program has ended: " + how, true);
        } else {
            tell("the program has ended" + (text.empty() ? "" : " · " + text));
        }
        if (session.last_step() < 0 && output) { // what it said is all that there is
            show_output(*this);
        }
        break;
    case HowStopped::interrupted: tell("interrupted, the program waits: c lets it go on · " + text); break;
    case HowStopped::breakpoint: tell(session.breakpoint_met() + (text.empty() ? "held" : text)); break;
    default:
        if (!text.empty()) {
            tell(text);
        }
    }
}

KeyContext App::context() const { return !pages.empty() ? in_popup : session.program() ? in_live : in_recorded; }

void App::on_input(const Input& input) {
    const bool drawn = !std::exchange(dirty_, true);
    if (input.kind == Input::Kind::restyled) {
        return;
    }
    if (!screen.layout().fits) { // what can't be seen is not changed
        const Action action = input.kind == Input::Kind::key ? settings.keys.action_for(input.key, in_recorded) : Action::none;
        if (action == Action::close || action == Action::quit) {
            quit(0);
        }
        return;
    }
    attempt([&] {
        if (drawn) {
            update();
        } else {
            lay_out(); // the keys before may have changed what there is, and how much room it has
        }
        if (!pages.empty()) {
            pages.shape();
        }
    });
    const auto stands = [&] {
        return std::tuple(list.id(), session.selected(), list.lines().selected(), list.lines().top(), detail.lines().selected(),
                          detail.lines().top());
    };
    const auto stood = stands();
    const Step stood_at = session.step();
    attempt([&] {
        switch (input.kind) {
        case Input::Kind::key: on_key(input.key); break;
        case Input::Kind::click: on_click(input.row, input.col); break;
        case Input::Kind::release: on_release(input.row, input.col); break;
        case Input::Kind::wheel_up: on_wheel(input.row, input.col, -3); break;
        case Input::Kind::wheel_down: on_wheel(input.row, input.col, 3); break;
        default: break;
        }
    });
    guide.look(*this);
    if (session.runs_free() && session.step() == stood_at && std::get<0>(stands()) == std::get<0>(stood) && stands() != stood) {
        session.stop_following(); // who moves about wants to look at this place
    }
}

void App::on_key(Key key) {
    if (session.scanning()) {
        if (key == key_escape || key == ' ' || key == 'q') {
            tell("stopped looking at step " + words::count(session.scan_position()));
            session.stop_scan();
        }
        return;
    }
    if (typed.open()) {
        typed.handle(key);
        return;
    }
    if (letter_for != Action::none) {
        on_letter(*this, std::exchange(letter_for, Action::none), key);
        return;
    }
    const Action action = settings.keys.action_for(key, context());
    if (!session.running()) { // what was told was of the key before
        tell("");
    }
    if (action != Action::none) {
        guide.prepare(*this, action);
        perform(*this, action);
    } else if (key != key_none) {
        tell(key_text(key) + " does nothing here: " + settings.keys.key_of(Action::help, context()) + " shows the keys that do",
             true);
    }
}

void App::on_interrupt() {
    dirty_ = true;
    if (session.scanning() || typed.open() || letter_for != Action::none) {
        on_key(key_escape);
    } else if (FileRun* const file = running_file()) {
        file->cancel();
    } else if (session.comparison().running()) {
        stop_comparison(*this);
    } else if (session.program() && !session.program()->ended()) {
        perform(*this, Action::hold);
    } else if (session.program()) { // it was meant for the run, which ended a moment ago: what is recorded is not to be lost
        tell("the program has ended: there is nothing to interrupt; " + key_of(Action::close) + " quits", true);
    } else {
        exit_code_ = exit_interrupted;
    }
}

void App::tell(std::string text, bool trouble) {
    constexpr size_t most_messages = 200;
    told_ = {std::move(text), trouble};
    if (!told_.text.empty() && (messages.empty() || messages.back().text != told_.text)) {
        messages.push_back(told_);
        if (messages.size() > most_messages) {
            messages.pop_front();
        }
    }
    dirty_ = true;
}

void App::ask(TypedLine::TypedQuestion question) {
    question.then = [this, then = std::move(question.then)](const std::string& typed) {
        try {
            then(typed);
        } catch (const Error& error) {
            if (error.kind() != ErrorKind::usage) {
                throw;
            }
            tell(error.what(), true);
        }
    };
    typed.ask(std::move(question));
}

void App::show_view(ViewId id) {
    if (id != list.id()) {
        list.show(id);
        pane = Pane::list;
    }
    dirty_ = true;
}

void App::set_list_width(int percent) {
    settings.list_width = std::clamp(percent, 10, 90);
    tell("the list has " + std::to_string(*settings.list_width) + "% of the screen, as far as there is room");
}

} // namespace schedscope::tui
