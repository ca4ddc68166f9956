// The line of ':'.
#include "inspector/tui/app.h"

#include "inspector/tui/commands.h"
#include "inspector/tui/pages.h"
#include "inspector/tui/text.h"
#include "inspector/tui/user_files.h"
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

bool is_letter(const std::string& text) { return text.size() == 1 && text[0] >= 'a' && text[0] <= 'z'; }

} // namespace

/// What the commands do, by the table's names (commands.cpp).
struct Commands {
    App& app;
    const CommandLine& line;

    void run(std::string_view name) {
        const std::string& argument = line.argument;
        if (name == "step" || name == "eval") {
            go(name);
        } else if (name == "pass") {
            go_pass();
        } else if (name == "view") {
            show_view();
        } else if (name == "tensor" || name == "explain") {
            tensor(name == "explain");
        } else if (name == "search") {
            app.search_for(argument);
        } else if (name == "filter") {
            app.set_filter(argument);
        } else if (name == "break") {
            app.set_breakpoint(argument);
        } else if (name == "sort") {
            sort();
        } else if (name == "what-if") {
            app.start_what_if(argument);
        } else if (name == "diff") {
            app.session_.start_diff(expanded_path(argument));
            app.show_view(ViewId::what_if);
            app.tell("comparing with " + argument + " …");
        } else if (name == "mark" || name == "jump") {
            if (!is_letter(argument)) {
                app.tell("a mark is a letter from a to z, not '" + argument + "'", true);
            } else if (name == "mark") {
                app.set_mark(argument[0]);
            } else {
                app.go_to_mark(argument[0]);
            }
        } else if (name == "marks") {
            if (app.trail_.marks.empty()) {
                app.tell(app.why_not(Action::go_to_mark).empty() ? "no mark is set" : app.why_not(Action::go_to_mark), true);
            } else {
                app.pages_.open({"marks", [&a = app](int) { return marks_page(a.session_, a.trail_); }, true});
            }
        } else if (name == "write") {
            app.write_to(argument, line.insisting);
        } else if (name == "dot") {
            app.draw_picture(argument, line.insisting);
        } else if (name == "set" && argument.empty()) {
            app.pages_.open({"settings", [&a = app](int) { return settings_page(a.settings_, settings_path()); }});
        } else if (name == "set") {
            app.change_setting(argument);
        } else if (name == "help") {
            app.show_keys();
        }
    }

private:
    void go(std::string_view what) {
        const auto number = parse_number(line.argument);
        if (!number) {
            app.tell(std::string(what) + " needs a number, not '" + line.argument + "'", true);
            return;
        }
        app.jump([&] {
            return what == "step"
                       ? app.session_.go(*number)
                       : app.session_.go_evaluation(static_cast<EvaluationId>(std::clamp<int64_t>(*number, -1, INT32_MAX)));
        });
    }

    void go_pass() {
        const Pass pass = pass_from_name(line.argument == "2" ? "2a" : line.argument);
        if (pass == Pass::count || pass == Pass::none) {
            app.tell("no pass '" + line.argument + "': there are 1 2a 2b 2c 2d 3 4 5 optimise allocate execute", true);
            return;
        }
        app.jump([&] { return app.session_.go_pass(pass); });
    }

    void show_view() {
        const auto entry = std::find_if(views().begin(), views().end(), [&](const ViewEntry& v) {
            return std::string_view(v.name).starts_with(line.argument) || std::to_string(v.number()) == line.argument;
        });
        if (entry != views().end()) {
            app.show_view(entry->id);
            return;
        }
        std::string known;
        for (const ViewEntry& v : views()) {
            known += std::string(known.empty() ? "" : ", ") + v.name;
        }
        app.tell("no view '" + line.argument + "': there are " + known, true);
    }

    void tensor(bool explained) {
        if (!app.session_.graph()) {
            app.tell("nothing is planned at this step", true);
            return;
        }
        const TensorId id = line.argument.empty() ? app.session_.selected()
                                                  : find_tensor(app.session_.history(), app.session_.state(), line.argument);
        if (explained) {
            app.explain(id);
        } else {
            app.open(Target::tensor(id));
        }
    }

    void sort() {
        const auto columns = app.list_.view().columns();
        if (line.argument.empty()) {
            app.sort_by(-1);
            return;
        }
        const auto found =
            std::find_if(columns.begin(), columns.end(), [&](const Column& c) { return c.title.starts_with(line.argument); });
        if (found != columns.end()) {
            app.sort_by(static_cast<int>(found - columns.begin()));
            return;
        }
        std::string known;
        for (const Column& column : columns) {
            known.append(known.empty() ? "" : ", ").append(column.title);
        }
        app.tell("no column '" + line.argument + "': there are " + known, true);
    }
};

void App::run_command(const std::string& text) {
    const CommandLine line = split_command(text);
    if (line.name.empty()) {
        return;
    }
    if (const auto number = parse_number(line.name)) {
        jump([&] { return session_.go(*number); });
        return;
    }
    // An action's whole name goes before the beginning of a command's.
    const Command* const command = command_named(line.name);
    Action action = !command || line.name != command->name ? action_named(line.name) : Action::none;
    if (!command && action == Action::none) {
        for (const Binding& binding : default_bindings()) {
            if (action == Action::none && std::string_view(binding.name).starts_with(line.name)) {
                action = binding.action;
            }
        }
    }
    if (action != Action::none) {
        perform(action);
    } else if (!command) {
        tell("no command '" + line.name + "': Tab shows which there are", true);
    } else if (command->argument != Argument::none && !command->optional && line.argument.empty()) {
        tell(std::string(command->name) + " needs " + command->takes + ": " + command->help, true);
    } else {
        Commands{*this, line}.run(command->name);
    }
}

} // namespace schedscope::tui
