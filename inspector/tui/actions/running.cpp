#include "inspector/tui/actions/running.h"

#include "inspector/tui/actions/ask_query.h"
#include "inspector/tui/actions/named_places.h"
#include "inspector/tui/actions/pages.h"
#include "runtime/system/joined.h"

namespace schedscope::tui {

void ask_breakpoint(App& app) { ask_query(app, "break on ", Typed::breakpoint, {}, add_breakpoint); }

void add_breakpoint(App& app, const std::string& text) {
    Query query = app.session.query(text);
    if (query.empty()) {
        show_breakpoints(app);
        return;
    }
    const std::string instead_of_tokens = app.key_of(Action::next_token) + " goes to the next evaluation";
    if (const std::optional<std::string> why = app.session.why_never_met(query, instead_of_tokens)) {
        app.tell(joined({"no breakpoint on ", text, ": ", *why}), true);
        return;
    }
    app.session.change_breakpoints([&](Breakpoints& breakpoints) { breakpoints.add(std::move(query)); });
    const int n = app.session.breakpoints().size();
    app.tell("breakpoint on " + text + ": c goes on to it, C back" +
             (n == 1 ? "" : "; " + app.key_of(Action::breakpoints) + " lists all " + std::to_string(n)));
}

void take_breakpoint_away(App& app, const std::string& number) {
    const Breakpoints& all = app.session.breakpoints();
    const std::optional<int64_t> one = number.empty() ? std::nullopt : parse_number(number);
    if (all.empty()) {
        app.tell("no breakpoint is set", true);
    } else if (number.empty()) {
        app.session.change_breakpoints([](Breakpoints& breakpoints) { breakpoints.clear(); });
        app.tell("no breakpoint is left");
    } else if (!one || *one < 1 || *one > all.size()) {
        app.tell("there is no breakpoint " + number + ": they go from 1 to " + std::to_string(all.size()), true);
    } else {
        const std::string query = all[int_of(*one) - 1].query.text();
        app.session.change_breakpoints([&](Breakpoints& breakpoints) { breakpoints.remove(int_of(*one) - 1); });
        app.tell("no breakpoint on " + query + " any longer");
    }
}

void show_breakpoints(App& app) {
    if (app.session.breakpoints().empty()) {
        app.tell("no breakpoint is set: b sets one", true);
        return;
    }
    Page page = {"breakpoints", [&app](int) { return breakpoints_page(app.session.breakpoints()); }, true};
    page.enter = "Enter enables or disables";
    app.pages.open(std::move(page));
}

void turn_breakpoint(App& app) {
    const int i = int_of(app.pages.target().id);
    app.session.change_breakpoints([i](Breakpoints& breakpoints) { breakpoints.enable(i, !breakpoints[i].enabled); });
    const Breakpoint& turned = app.session.breakpoints()[i];
    app.tell(turned.query.text() + (turned.enabled ? " is enabled" : " is disabled: nothing stops there"));
}

void delete_breakpoint(App& app) {
    take_breakpoint_away(app, std::to_string(app.pages.target().id + 1));
    if (app.session.breakpoints().empty()) {
        app.pages.close();
    }
}

void resume(App& app, bool forward) {
    const Breakpoints& breakpoints = app.session.breakpoints();
    const bool none = breakpoints.n_enabled() == 0;
    if (forward && app.session.program() && app.session.at_newest()) {
        app.session.let_run();
        app.tell("running" + (none ? "" : " until " + breakpoints.until()) + ": Space or Ctrl-C interrupts it");
        return;
    }
    if (forward && none) { // live, looking at what lies behind
        app.tell(app.session.go(app.session.last_step()));
        app.session.let_run();
        return;
    }
    app.session.start_scan(forward);
}

void hold(App& app) {
    app.session.hold();
    app.tell("holding at the next record; until it comes, " + app.key_of(Action::resume) + " lets the program run on");
}

std::string no_breakpoint(const App& app) {
    const Breakpoints& breakpoints = app.session.breakpoints();
    return breakpoints.empty()            ? "no breakpoint is set: b sets one"
           : breakpoints.n_enabled() == 0 ? "no breakpoint is enabled: " + app.key_of(Action::breakpoints) + " lists them"
                                          : "";
}

std::string no_breakpoint_selected(const App& app) {
    const bool one = !app.pages.empty() && app.pages.target().kind == Target::Kind::breakpoint;
    return one ? "" : app.key_of(Action::breakpoints) + " lists breakpoints: there one can be selected";
}

std::string cannot_resume(const App& app) {
    const LiveProgram* const program = app.session.program();
    const bool runs_on = program && !program->will_be_held() && program->goes();
    return !program           ? no_breakpoint(app)
           : program->ended() ? "the program has ended"
           : runs_on          ? "the program is running already: Space holds it"
                              : "";
}

std::string cannot_hold(const App& app) {
    const LiveProgram* const program = app.session.program();
    return !program                  ? "nothing runs: this is a recorded trace"
           : program->ended()        ? "the program has ended"
           : program->will_be_held() ? "the program will be held at its next record already; until it comes, " +
                                           app.key_of(Action::resume) + " lets it run on"
           : program->goes() ? ""
                             : "the program is held already";
}

} // namespace schedscope::tui
