// What the keys do.
#include "inspector/tui/app.h"

#include "inspector/tui/pages.h"
#include "inspector/tui/text.h"
#include "runtime/error.h"

#include <algorithm>

namespace schedscope::tui {
namespace {

/// The view that an action shows; null: it shows none.
const ViewEntry* view_of(Action action) noexcept {
    return view_numbered(static_cast<int>(action) - static_cast<int>(Action::first_view) + 1);
}

} // namespace

void App::tell(std::string text, bool trouble) {
    told_ = {std::move(text), trouble};
    dirty_ = true;
}

std::string App::why_not(Action action) const {
    switch (action) {
    case Action::next_match:
    case Action::previous_match: return list_.search().empty() ? "nothing was searched yet: / searches" : "";
    case Action::back: return trail_.can_go_back() ? "" : "no jump to go back from";
    case Action::forward: return trail_.can_go_forward() ? "" : "no way back was gone";
    case Action::mark: return session_.step() == no_step ? "nothing is recorded yet" : "";
    case Action::go_to_mark:
        return trail_.marks.empty() && !trail_.can_go_back() ? "no mark is set: m and a letter sets one" : "";
    case Action::explain:
    case Action::cause:
    case Action::readers:
    case Action::sources:
        return session_.row_of(session_.selected()) >= 0 ? "" : "no tensor is selected: nothing is planned at this step";
    case Action::resume:
        if (session_.gate()) {
            return session_.ended()     ? "the program has ended"
                   : session_.running() ? "the program is running already: Space holds it"
                                        : "";
        }
        return breakpoint_.empty() ? "no breakpoint is set: b sets one" : "";
    case Action::resume_back: return breakpoint_.empty() ? "no breakpoint is set: b sets one" : "";
    case Action::hold:
        if (!session_.gate()) {
            return "nothing runs: this is a recorded trace";
        }
        return session_.ended() ? "the program has ended" : session_.running() ? "" : "the program is held already";
    case Action::open:
        if (!pages_.empty()) {
            return pages_.top().chooses ? "" : "this page has nothing to open";
        }
        return list_.empty() ? "the list is empty" : "";
    case Action::right:
    case Action::next_pane:
    case Action::previous_pane: return list_.n_rows() == 0 ? "there are no details: the list is empty" : "";
    case Action::copy_view:
    case Action::copy_details:
    case Action::sort: return list_.empty() ? "the list is empty" : "";
    case Action::zoom_in:
    case Action::zoom_out:
    case Action::zoom_whole:
    case Action::pan_left:
    case Action::pan_right: return list_.id() != ViewId::timeline ? "there is nothing to zoom here: the timeline (6) zooms" : "";
    case Action::leave:
        return pages_.empty() && !picture_.running() && !session_.comparison().running() && pane_ == Pane::list &&
                       list_.filter().empty() && list_.search().empty()
                   ? "nothing to leave: " + settings_.keys.key_of(Action::close, context()) + " quits"
                   : "";
    case Action::wider:
        return screen_.layout().list_percent() >= 90 || screen_.layout().detail.width <= Layout::narrowest_pane
                   ? "it is as wide as it can be"
                   : "";
    case Action::narrower:
        return screen_.layout().list_percent() <= 10 || screen_.layout().list.width <= Layout::narrowest_pane
                   ? "it is as narrow as it can be"
                   : "";
    case Action::what_if: return session_.comparison().running() ? "the last comparison is not done yet: Esc stops it" : "";
    default: break;
    }
    return {};
}

void App::perform(Action action) {
    using Unit = Session::Unit;
    if (std::string reason = why_not(action); !reason.empty()) {
        tell(std::move(reason), true);
        return;
    }
    const auto move = [&](Unit unit, bool forward) { tell(session_.move(unit, forward)); };
    switch (action) {
    case Action::next_record: move(Unit::record, true); break;
    case Action::previous_record: move(Unit::record, false); break;
    case Action::next_sweep: move(Unit::sweep, true); break;
    case Action::previous_sweep: move(Unit::sweep, false); break;
    case Action::next_pass: move(Unit::pass, true); break;
    case Action::previous_pass: move(Unit::pass, false); break;
    case Action::next_split: move(Unit::split, true); break;
    case Action::previous_split: move(Unit::split, false); break;
    case Action::next_evaluation: move(Unit::evaluation, true); break;
    case Action::previous_evaluation: move(Unit::evaluation, false); break;
    case Action::next_token: move(Unit::token, true); break;
    case Action::previous_token: move(Unit::token, false); break;
    case Action::next_change: tell(session_.change_of_selected(true)); break;
    case Action::previous_change: tell(session_.change_of_selected(false)); break;
    case Action::first_step:
    case Action::last_step: jump([&] { return session_.go(action == Action::first_step ? 0 : session_.last_step()); }); break;
    case Action::go_to_step:
        ask({"go to step ", Typed::step, "", [this](const std::string& text) { run_command("step " + text); }});
        break;
    case Action::breakpoint: ask_query("break on ", Typed::breakpoint, breakpoint_, &App::set_breakpoint); break;
    case Action::resume: resume(true); break;
    case Action::resume_back: resume(false); break;
    case Action::hold:
        session_.hold();
        interrupted_ = true;
        tell("holding at the next record");
        break;
    case Action::left: pane_ = Pane::list; break;
    case Action::right: pane_ = Pane::detail; break;
    case Action::next_pane:
    case Action::previous_pane: pane_ = pane_ == Pane::list ? Pane::detail : Pane::list; break;
    case Action::open:
        if (!pages_.empty()) {
            const Target target = pages_.target();
            if (target.kind != Target::Kind::none) {
                pages_.close_all();
            }
            open(target);
            break;
        }
        update_detail();
        open(pane_ == Pane::list ? list_.view().open(session_, list_.selected_row()) : detail_.target());
        break;
    case Action::back: go_to(trail_.back(here()), "back"); break;
    case Action::forward: go_to(trail_.forward(here()), "forward"); break;
    case Action::mark:
    case Action::go_to_mark:
        letter_for_ = action;
        tell(action == Action::mark ? "mark this place with a letter:" : "go to the mark:");
        break;
    case Action::explain: explain(session_.selected()); break;
    case Action::cause: go_to_cause(); break;
    case Action::readers: choose_of(readers_of(session_, session_.selected()), "reads"); break;
    case Action::sources: choose_of(sources_of(session_, session_.selected()), "is read by"); break;
    case Action::copy_view: copy(list_as_text(), counted(list_.n_lines(), "line")); break;
    case Action::copy_details: copy(details_as_text(), "the details"); break;
    case Action::wider: set_list_width(screen_.layout().list_percent() + 4); break;
    case Action::narrower: set_list_width(screen_.layout().list_percent() - 4); break;
    case Action::leave: leave(); break;
    case Action::search: ask_query("/", Typed::search, {}, &App::search_for, &QueryPreview::search); break;
    case Action::next_match: find(true, false); break;
    case Action::previous_match: find(false, false); break;
    case Action::filter: ask_query("show only ", Typed::filter, list_.filter(), &App::set_filter, &QueryPreview::filter); break;
    case Action::follow:
        settings_.follow = session_.follow = !session_.follow;
        tell(session_.follow ? "n and p select the tensor that changes" : "n and p leave the selection where it is");
        break;
    case Action::sort: sort_by(list_.next_column()); break;
    case Action::what_if:
        ask({"what if ", Typed::what_if, session_.comparison().settings(),
             [this](const std::string& text) { start_what_if(text); },
             [this](std::string_view before) { return completions().what_if(before); }});
        break;
    case Action::zoom_in: zoom(Zoom::in, -1); break;
    case Action::zoom_out: zoom(Zoom::out, -1); break;
    case Action::zoom_whole: zoom(Zoom::whole, -1); break;
    case Action::pan_left: zoom(Zoom::left, -1); break;
    case Action::pan_right: zoom(Zoom::right, -1); break;
    case Action::command:
        ask({":", Typed::command, "", [this](const std::string& text) { run_command(text); },
             [this](std::string_view before) { return completions().command(before); }});
        break;
    case Action::help: show_keys(); break;
    case Action::close:
        if (!pages_.empty()) {
            pages_.close();
        } else {
            exit_code_ = 0;
        }
        break;
    case Action::quit: exit_code_ = 0; break;
    default:
        if (const ViewEntry* const view = view_of(action)) {
            show_view(view->id);
        } else {
            move_cursor(action);
        }
    }
}

void App::zoom(Zoom how, int column) {
    if (Drawing* const drawing = list_.view().drawing(); drawing && drawing->zoom(how, column)) {
        tell(drawing->title(session_));
    }
}

void App::ask(TypedLine::Question question) {
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
    typed_.ask(std::move(question));
}

/// With a preview: in the list, as long as it is typed.
void App::ask_query(std::string label, Typed kind, const Query& now, void (App::*then)(const std::string&),
                    std::string (QueryPreview::*preview)(const std::string&)) {
    TypedLine::Question question{std::move(label), kind, now.text(),
                                 [this, then](const std::string& text) { (this->*then)(text); },
                                 [this](std::string_view before) { return completions().query(before); }};
    if (preview) {
        preview_.begin();
        question.preview = [this, preview](const std::string& text) { return (preview_.*preview)(text); };
        question.end_preview = [this] { preview_.end(); };
    }
    ask(std::move(question));
}

void App::leave() {
    if (!pages_.empty()) {
        pages_.close();
    } else if (picture_.running()) {
        picture_.cancel();
    } else if (session_.comparison().running()) {
        stop_comparison();
    } else if (pane_ == Pane::detail) {
        pane_ = Pane::list;
    } else if (!list_.filter().empty()) {
        set_filter("");
    } else {
        list_.set_search({});
    }
}

void App::search_for(const std::string& text) {
    const bool fresh = !text.empty() && text != list_.search().text();
    if (fresh) {
        list_.set_search(Query::parse(text));
    }
    if (list_.search().empty()) {
        tell("nothing was searched", true);
        return;
    }
    const Place from = here();
    find(true, fresh);
    came_from(from);
}

void App::stop_comparison() {
    session_.stop_comparison();
    tell("stopping the comparison …");
}

void App::start_what_if(const std::string& text) {
    session_.start_what_if(text);
    show_view(ViewId::what_if);
    tell("planning again …: Esc stops");
}

void App::set_filter(const std::string& text) {
    list_.set_filter(Query::parse(text));
    update();
    if (list_.filter().empty()) {
        tell("all " + counted(list_.n_rows(), "line"));
    } else {
        tell(grouped(list_.n_lines()) + " of " + counted(list_.n_rows(), "line") + " match " + text, list_.n_lines() == 0);
    }
}

void App::set_breakpoint(const std::string& text) {
    breakpoint_ = Query::parse(text);
    if (LiveGate* const gate = session_.gate()) {
        if (breakpoint_.empty()) {
            gate->set_breakpoint({});
        } else {
            // The gate asks on the program's thread: it gets a reader of its own.
            struct Reader {
                History history;
                Describer describer{history};
                Query query;
                Facts facts{query};
                Reader(std::shared_ptr<const RecordSource> source, Query until)
                    : history(std::move(source)), query(std::move(until)) {}
            };
            auto reader = std::make_shared<Reader>(session_.shared_source(), breakpoint_);
            gate->set_breakpoint([reader](const Record& record) {
                reader->describer.record(record, reader->facts);
                return reader->query.matches(reader->facts);
            });
        }
    }
    tell(breakpoint_.empty() ? "no breakpoint" : "breakpoint on " + text + ": c goes on to it, C back");
}

void App::resume(bool forward) {
    if (forward && session_.gate() && session_.at_newest()) {
        session_.let_run();
        tell("running" + (breakpoint_.empty() ? ": Space or Ctrl-C interrupts it"
                                              : " until " + breakpoint_.text() + ": Space or Ctrl-C interrupts it"));
        return;
    }
    if (forward && breakpoint_.empty()) { // live, looking at what lies behind
        tell(session_.go(session_.last_step()));
        session_.let_run();
        return;
    }
    session_.start_scan(breakpoint_, forward);
}

void App::find(bool forward, bool from_here) {
    update();
    const int before = list_.lines().selected(), n = list_.n_lines();
    const int first = n == 0 || from_here ? before : (before + (forward ? 1 : n - 1)) % n;
    const int shown = list_.find(first, forward);
    if (shown < 0) {
        tell("no line of this list matches " + list_.search().text(), true);
        return;
    }
    list_.select_line(shown);
    Facts facts;
    list_.view().facts(session_, list_.selected_row(), facts);
    const bool wrapped = forward ? shown < before : shown > before;
    tell("found " + std::string(facts.text(Field::name)) +
         (shown == before && !from_here ? ": the only line that matches"
          : wrapped                     ? ", from the other end of the list"
                                        : "") +
         " · . next  , previous");
}

void App::sort_by(int column) {
    list_.sort_by(column);
    update();
    if (column < 0) {
        tell("in the order of evaluation");
    } else {
        tell("ordered by " + std::string(list_.view().columns()[static_cast<size_t>(column)].title));
    }
}

void App::show_view(ViewId id) {
    if (id != list_.id()) {
        list_.show(id);
        pane_ = Pane::list;
    }
    dirty_ = true;
}

void App::set_list_width(int percent) {
    settings_.list_width = std::clamp(percent, 10, 90);
    tell("the list has " + std::to_string(*settings_.list_width) + "% of the screen, as far as there is room");
}

void App::open(Target target) {
    const std::string back = " · " + settings_.keys.key_of(Action::back, session_.gate() ? in_live : in_recorded) + " goes back";
    switch (target.kind) {
    case Target::Kind::none: tell("this line has nothing to open", true); return;
    case Target::Kind::tensor: {
        const Place from = here();
        session_.select(static_cast<TensorId>(target.id));
        show_view(ViewId::nodes);
        pane_ = Pane::list;
        came_from(from);
        update();
        if (list_.hides(session_.selected())) {
            tell(session_.name(session_.selected()) + " · the filter hides it: Esc shows all", true);
        } else {
            tell(session_.name(session_.selected()) + back);
        }
        return;
    }
    case Target::Kind::step:
        if (target.id == session_.step()) {
            tell("this is the present step", true);
            return;
        }
        jump([&] { return session_.go(target.id); });
        return;
    case Target::Kind::split: {
        const auto& splits = session_.state().splits;
        if (static_cast<size_t>(target.id) >= splits.size()) {
            tell("split " + std::to_string(target.id) + " is not made at this step", true);
            return;
        }
        const Place from = here();
        show_view(ViewId::splits);
        pane_ = Pane::list;
        update();
        const int row = static_cast<int>(target.id); // a row of that view is a split
        const bool hidden = list_.line_of_row(row) < 0;
        list_.select_row(row);
        came_from(from);
        tell("split " + std::to_string(target.id) + (hidden ? " · the filter hides it: Esc shows all" : back), hidden);
        return;
    }
    case Target::Kind::evaluation: jump([&] { return session_.go_evaluation(static_cast<EvaluationId>(target.id)); }); return;
    case Target::Kind::mark: go_to_mark(static_cast<char>(target.id)); return;
    }
}

} // namespace schedscope::tui
