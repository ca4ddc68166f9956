// What the keys do.
#include "inspector/tui/app.h"

#include "inspector/tui/text.h"
#include "runtime/error.h"
#include "traces/explain.h"

#include <algorithm>
#include <charconv>

namespace schedscope::tui {
namespace {

std::optional<int64_t> parse_number(std::string text) {
    std::erase(text, ',');
    int64_t value = 0;
    const auto result = std::from_chars(text.data(), text.data() + text.size(), value);
    return result.ec == std::errc() && result.ptr == text.data() + text.size() ? std::optional(value) : std::nullopt;
}

int view_of(Action action) noexcept {
    return action >= Action::view_1 && action <= Action::view_10 ? static_cast<int>(action) - static_cast<int>(Action::view_1) + 1
                                                                 : 0;
}

} // namespace

void App::tell(std::string text, bool trouble) {
    status_ = std::move(text);
    trouble_ = trouble;
    dirty_ = true;
}

std::string App::why_not(Action action) const {
    switch (action) {
    case Action::next_match:
    case Action::previous_match: return search_.empty() ? "nothing was searched yet: / searches" : "";
    case Action::back: return session_.can_go_back() ? "" : "no jump to go back from";
    case Action::resume:
        if (session_.gate())
            return session_.ended()     ? "the program has ended"
                   : session_.running() ? "the program is running already: Space holds it"
                                        : "";
        return breakpoint_.empty() ? "no breakpoint is set: b sets one" : "";
    case Action::resume_back: return breakpoint_.empty() ? "no breakpoint is set: b sets one" : "";
    case Action::hold:
        return session_.ended() ? "the program has ended" : session_.running() ? "" : "the program is held already";
    case Action::open:
    case Action::sort: return list_.empty() ? "the list is empty" : "";
    case Action::zoom_in:
    case Action::zoom_out:
    case Action::zoom_whole:
    case Action::pan_left:
    case Action::pan_right: return view_number_ != 6 ? "there is nothing to zoom here: the timeline (6) zooms" : "";
    case Action::what_if: return session_.comparison().running() ? "the last comparison is not done yet" : "";
    default: break;
    }
    if (const int number = view_of(action);
        number > 0 && std::none_of(views().begin(), views().end(), [&](const ViewEntry& v) { return v.number == number; }))
        return "there is no view " + std::to_string(number);
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
    case Action::first_step: tell(session_.go(0)); break;
    case Action::last_step: tell(session_.go(session_.last_step())); break;
    case Action::go_to_step:
        ask("go to step ", "", steps_, [this](const std::string& text) { run_command("step " + text); });
        break;
    case Action::breakpoint:
        ask("break on ", breakpoint_.text(), breakpoints_, [this](const std::string& text) { set_breakpoint(text); });
        break;
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
        update_detail();
        if (pane_ == Pane::list)
            open(view_->open(session_, view_row()));
        else
            open(detail_.empty() ? Target{} : detail_[static_cast<size_t>(detail_list_.selected())].target);
        break;
    case Action::back: {
        int view = view_number_;
        tell(session_.go_back(view));
        show_view(view);
        break;
    }
    case Action::leave:
        if (help_)
            help_ = false;
        else if (pane_ == Pane::detail)
            pane_ = Pane::list;
        else if (!filter_.empty())
            set_filter("");
        else if (!search_.empty())
            search_ = Query();
        else
            tell("nothing to leave: q quits");
        break;
    case Action::search:
        ask("/", "", searches_, [this](const std::string& text) {
            const bool fresh = !text.empty() && text != search_.text();
            if (fresh)
                search_ = Query::parse(text);
            if (!search_.empty())
                find(true, fresh);
        });
        break;
    case Action::next_match: find(true, false); break;
    case Action::previous_match: find(false, false); break;
    case Action::filter:
        ask("show only ", filter_.text(), filters_, [this](const std::string& text) { set_filter(text); });
        break;
    case Action::follow:
        session_.follow = !session_.follow;
        tell(session_.follow ? "n and p select the tensor that changes" : "n and p leave the selection where it is");
        break;
    case Action::sort: {
        const std::vector<int> widths = column_widths(view_->columns(), layout_.list.width - 2);
        int next = sort_column_ + 1;
        while (next < static_cast<int>(widths.size()) && widths[static_cast<size_t>(next)] == 0)
            ++next;
        sort_by(next < static_cast<int>(widths.size()) ? next : -1);
        break;
    }
    case Action::what_if:
        ask("what if ", session_.comparison().settings(), what_ifs_, [this](const std::string& text) {
            session_.start_what_if(text);
            show_view(8);
            tell("planning again …");
        });
        break;
    case Action::zoom_in: zoom(Zoom::in, -1); break;
    case Action::zoom_out: zoom(Zoom::out, -1); break;
    case Action::zoom_whole: zoom(Zoom::whole, -1); break;
    case Action::pan_left: zoom(Zoom::left, -1); break;
    case Action::pan_right: zoom(Zoom::right, -1); break;
    case Action::command: ask(":", "", commands_, [this](const std::string& text) { run_command(text); }); break;
    case Action::help:
        help_ = !help_;
        help_list_ = List();
        break;
    case Action::close:
        if (help_)
            help_ = false;
        else
            exit_code_ = 0;
        break;
    case Action::quit: exit_code_ = 0; break;
    default:
        if (const int number = view_of(action); number > 0)
            show_view(number);
        else
            move_cursor(action);
    }
}

void App::zoom(Zoom how, int column) {
    if (Drawing* const drawing = view_->drawing(); drawing && drawing->zoom(how, column)) {
        tell(drawing->title(session_));
    }
}

void App::ask(std::string label, const std::string& text, std::vector<std::string>& history,
              std::function<void(const std::string&)> then) {
    prompt_.emplace(std::move(label), text, history);
    prompt_then_ = [this, then = std::move(then)](const std::string& typed) {
        try {
            then(typed);
        } catch (const Error& error) {
            if (error.kind() != ErrorKind::usage)
                throw;
            tell(error.what(), true);
        }
    };
}

void App::set_filter(const std::string& text) {
    filter_ = Query::parse(text);
    updated_ = 0;
    update();
    if (filter_.empty())
        tell("all " + counted(view_->n_rows(), "line"));
    else
        tell(grouped(n_shown()) + " of " + counted(view_->n_rows(), "line") + " match " + text, n_shown() == 0);
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
                Facts facts;
                explicit Reader(std::shared_ptr<const RecordSource> source) : history(std::move(source)) {}
            };
            auto reader = std::make_shared<Reader>(session_.shared_source());
            gate->set_breakpoint([reader, query = breakpoint_](const Record& record) {
                reader->describer.record(record, query, reader->facts);
                return query.matches(reader->facts);
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
    const int n = n_shown();
    Facts facts;
    for (int i = from_here ? 0 : 1; n > 0 && i <= n; ++i) {
        const int shown = ((list_.selected() + (forward ? i : -i)) % n + n) % n;
        view_->facts(session_, narrowed_ ? shown_[static_cast<size_t>(shown)] : shown, facts);
        if (!search_.matches(facts))
            continue;
        const bool wrapped = forward ? shown < list_.selected() : shown > list_.selected();
        const bool alone = i == n || (i == 0 && n == 1);
        select_shown(shown);
        tell("found " + std::string(facts.text(Field::name)) +
             (alone && !from_here ? ": the only line that matches"
              : wrapped           ? ", from the other end of the list"
                                  : "") +
             " · . next  , previous");
        return;
    }
    tell("no line of this list matches " + search_.text(), true);
}

void App::sort_by(int column) {
    sort_column_ = column;
    updated_ = 0;
    update();
    if (column < 0)
        tell("in the order of evaluation");
    else
        tell("ordered by " + std::string(view_->columns()[static_cast<size_t>(column)].title));
}

void App::show_view(int number) {
    const auto entry = std::find_if(views().begin(), views().end(), [&](const ViewEntry& v) { return v.number == number; });
    if (entry == views().end())
        return;
    const auto index = static_cast<size_t>(entry - views().begin());
    if (!views_[index])
        views_[index] = entry->make();
    if (view_ != views_[index].get()) {
        list_ = List();
        sort_column_ = -1;
        pane_ = Pane::list;
    }
    view_ = views_[index].get();
    view_number_ = number;
    updated_ = 0;
    dirty_ = true;
}

void App::open(Target target) {
    switch (target.kind) {
    case Target::Kind::none: tell("this line has nothing to open", true); return;
    case Target::Kind::tensor:
        session_.remember(view_number_);
        session_.select(static_cast<TensorId>(target.id));
        show_view(1);
        pane_ = Pane::list;
        tell(session_.name(session_.selected()) + " · Backspace goes back");
        return;
    case Target::Kind::step:
        if (target.id == session_.step()) {
            tell("this is the present step", true);
            return;
        }
        session_.remember(view_number_);
        tell(session_.go(target.id));
        return;
    case Target::Kind::split: {
        const auto& splits = session_.state().splits;
        if (static_cast<size_t>(target.id) >= splits.size()) {
            tell("split " + std::to_string(target.id) + " is not made at this step", true);
            return;
        }
        session_.remember(view_number_);
        show_view(2);
        tell("split " + std::to_string(target.id) + " · Backspace goes back");
        return;
    }
    case Target::Kind::evaluation:
        session_.remember(view_number_);
        tell(session_.go_evaluation(static_cast<EvaluationId>(target.id)));
        return;
    }
}

namespace {

/// The commands of ':'. `argument` is what stands behind the name; "" when nothing does.
struct Command {
    const char* name;
    const char* argument; ///< what it takes, for people; "" for nothing
};
constexpr Command commands[] = {
    {"quit", ""},       {"step", "N"},      {"eval", "N"},       {"pass", "P"},           {"view", "NAME"},
    {"tensor", "NAME"}, {"break", "QUERY"}, {"filter", "QUERY"}, {"diff", "OTHER.trace"}, {"help", ""}};

} // namespace

void App::run_command(const std::string& text) {
    const size_t begin = std::min(text.find_first_not_of(' '), text.size());
    const size_t end = std::min(text.find(' ', begin), text.size());
    const std::string name = text.substr(begin, end - begin);
    std::string argument = text.substr(std::min(text.find_first_not_of(' ', end), text.size()));
    while (argument.ends_with(' '))
        argument.pop_back();
    if (name.empty())
        return;
    if (const auto number = parse_number(name)) {
        tell(session_.go(*number));
        return;
    }
    // A beginning that only one command has is enough.
    const Command* command = nullptr;
    for (const Command& c : commands) {
        if (std::string_view(c.name) == name || (!command && std::string_view(c.name).starts_with(name)))
            command = &c;
    }
    if (!command) {
        std::string known;
        for (const Command& c : commands)
            known += std::string(known.empty() ? "" : ", ") + c.name;
        tell("no command '" + name + "': there are " + known, true);
        return;
    }
    const std::string_view which = command->name;
    if (*command->argument && argument.empty() && which != "break" && which != "filter") {
        tell(std::string(which) + " needs " + command->argument, true);
        return;
    }
    const auto number = parse_number(argument);
    if (which == "quit") {
        exit_code_ = 0;
    } else if (which == "help") {
        perform(Action::help);
    } else if (which == "step" || which == "eval") {
        if (!number)
            tell(std::string(which) + " needs a number, not '" + argument + "'", true);
        else
            tell(which == "step"
                     ? session_.go(*number)
                     : session_.go_evaluation(static_cast<EvaluationId>(std::clamp<int64_t>(*number, -1, INT32_MAX))));
    } else if (which == "pass") {
        const Pass pass = pass_from_name(argument == "2" ? "2a" : argument);
        if (pass == Pass::count || pass == Pass::none)
            tell("no pass '" + argument + "': there are 1 2a 2b 2c 2d 3 4 5 optimise allocate execute", true);
        else
            tell(session_.go_pass(pass));
    } else if (which == "view") {
        const auto entry = std::find_if(views().begin(), views().end(), [&](const ViewEntry& v) {
            return std::string_view(v.name).starts_with(argument) || std::to_string(v.number) == argument;
        });
        if (entry != views().end()) {
            show_view(entry->number);
            return;
        }
        std::string known;
        for (const ViewEntry& v : views())
            known += std::string(known.empty() ? "" : ", ") + v.name;
        tell("no view '" + argument + "': there are " + known, true);
    } else if (which == "tensor") {
        if (!session_.graph())
            tell("nothing is planned at this step", true);
        else
            open(Target::tensor(find_tensor(session_.history(), session_.state(), argument)));
    } else if (which == "diff") {
        session_.start_diff(argument);
        show_view(8);
        tell("comparing with " + argument + " …");
    } else if (which == "break") {
        set_breakpoint(argument);
    } else {
        set_filter(argument);
    }
}

} // namespace schedscope::tui
