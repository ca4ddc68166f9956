#include "inspector/tui/actions/running.h"

#include "inspector/tui/actions/ask_query.h"

#include <memory>

namespace schedscope::tui {

void ask_breakpoint(App& app) { ask_query(app, "break on ", Typed::breakpoint, app.breakpoint, set_breakpoint); }

void set_breakpoint(App& app, const std::string& text) {
    app.breakpoint = app.session.query(text);
    if (LiveProgram* const program = app.session.program()) {
        if (app.breakpoint.empty()) {
            program->set_breakpoint({});
        } else {
            // The gate asks on the program's thread: it gets a reader of its own.
            struct BreakpointReader {
                History history;
                Describer describer{history};
                Query query;
                Facts facts{query};
                BreakpointReader(std::shared_ptr<const RecordSource> source, Query until)
                    : history(std::move(source)), query(std::move(until)) {}
            };
            auto reader = std::make_shared<BreakpointReader>(app.session.shared_source(), app.breakpoint);
            program->set_breakpoint([reader](const Record& record) {
                reader->describer.record(record, reader->facts);
                return reader->query.matches(reader->facts);
            });
        }
    }
    app.tell(app.breakpoint.empty() ? "no breakpoint" : "breakpoint on " + text + ": c goes on to it, C back");
}

void resume(App& app, bool forward) {
    if (forward && app.session.program() && app.session.at_newest()) {
        app.session.let_run();
        app.tell("running" + (app.breakpoint.empty() ? ": Space or Ctrl-C interrupts it"
                                                     : " until " + app.breakpoint.text() + ": Space or Ctrl-C interrupts it"));
        return;
    }
    if (forward && app.breakpoint.empty()) { // live, looking at what lies behind
        app.tell(app.session.go(app.session.last_step()));
        app.session.let_run();
        return;
    }
    app.session.start_scan(app.breakpoint, forward);
}

void hold(App& app) {
    app.session.hold();
    app.tell("holding at the next record");
}

std::string no_breakpoint(const App& app) { return app.breakpoint.empty() ? "no breakpoint is set: b sets one" : ""; }

std::string cannot_resume(const App& app) {
    const LiveProgram* const program = app.session.program();
    return !program           ? no_breakpoint(app)
           : program->ended() ? "the program has ended"
           : program->goes()  ? "the program is running already: Space holds it"
                              : "";
}

std::string cannot_hold(const App& app) {
    const LiveProgram* const program = app.session.program();
    return !program           ? "nothing runs: this is a recorded trace"
           : program->ended() ? "the program has ended"
           : program->goes()  ? ""
                              : "the program is held already";
}

} // namespace schedscope::tui
