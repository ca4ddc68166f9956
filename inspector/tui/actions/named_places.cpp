#include "inspector/tui/actions/named_places.h"

#include "inspector/tui/actions/commands.h"
#include "inspector/tui/actions/jumps.h"
#include "runtime/numbers.h"
#include "runtime/system/joined.h"
#include "runtime/system/read_number.h"
#include "traces/history/explain.h"
#include "traces/history/namesakes.h"

#include <algorithm>

namespace schedscope::tui {
namespace {

/// Nothing, which is told: it is no number.
std::optional<int64_t> number_of(App& app, const std::string& text, const char* what) {
    const auto number = parse_number(text);
    if (!number) {
        app.tell(std::string(what) + " needs a number, not '" + text + "'", true);
    }
    return number;
}

/// Of a name that several have, the one that `schedscope explain` tells; "": the selected one. Nothing, which is told: there are
/// no tensors.
std::optional<Namesakes> tensor_called(App& app, const std::string& name) {
    if (!app.session.graph()) {
        app.tell("nothing is planned at this step", true);
        return std::nullopt;
    }
    return name.empty() ? Namesakes{app.session.selected(), 0, {}}
                        : find_namesakes(app.session.history(), app.session.state(), name);
}

} // namespace

std::optional<int64_t> parse_number(std::string text) {
    std::erase(text, ',');
    return read_number<int64_t>(text);
}

void ask_step(App& app) {
    app.ask({"go to step ", Typed::step, "", [&app](const std::string& text) { run_command(app, "step " + text); }});
}

void go_to_step(App& app, const std::string& number) {
    if (const auto step = number_of(app, number, "step")) {
        app.jump([&] { return app.session.go(*step); });
    }
}

void go_to_evaluation(App& app, const std::string& number) {
    if (const auto id = number_of(app, number, "eval")) {
        app.jump([&] { return app.session.go_evaluation(int_of(std::clamp<int64_t>(*id, -1, INT32_MAX))); });
    }
}

void go_to_pass(App& app, const std::string& name) {
    const bool whole = name == "2"; // over with its last sweep
    const Pass pass = pass_from_name(whole ? "2d" : name);
    if (pass == Pass::count || pass == Pass::none) {
        app.tell("no pass '" + name + "': there are 1 2 2a 2b 2c 2d 3 4 5 optimise allocate execute", true);
        return;
    }
    app.jump([&] { return app.session.go_pass(pass, whole ? History::Unit::pass : History::Unit::sweep); });
}

void show_view_called(App& app, const std::string& name) {
    for (const ViewEntry& view : views()) {
        if (std::string_view(view.name).starts_with(name) || std::to_string(view.number()) == name) {
            app.show_view(view.id);
            return;
        }
    }
    app.tell("no view '" + name + "': there are " + joined(views(), ", ", &ViewEntry::name), true);
}

void go_to_tensor(App& app, const std::string& name) {
    const std::optional<Namesakes> called = tensor_called(app, name);
    if (!called) {
        return;
    }
    open(app, Target::tensor(called->told));
    if (!called->others.empty() && app.list.why_hidden(called->told).empty()) {
        app.tell(namesakes_in_brief(app.session.history(), app.session.state(), *called));
    }
}

void explain_tensor(App& app, const std::string& name) {
    if (const std::optional<Namesakes> called = tensor_called(app, name)) {
        explain(app, called->told);
    }
}

} // namespace schedscope::tui
