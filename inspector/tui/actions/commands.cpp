#include "inspector/tui/actions/commands.h"

#include "inspector/tui/actions/actions.h"
#include "inspector/tui/actions/change_setting.h"
#include "inspector/tui/actions/comparing.h"
#include "inspector/tui/actions/export.h"
#include "inspector/tui/actions/finding.h"
#include "inspector/tui/actions/marks.h"
#include "inspector/tui/actions/named_places.h"
#include "inspector/tui/actions/running.h"
#include "inspector/tui/actions/show_page.h"

#include <algorithm>

namespace schedscope::tui {
namespace {

/// What takes the argument as it is typed.
template <auto function> void with_argument(App& app, const ColonLine& line) { function(app, line.argument); }
/// And what writes a file: "name!" overwrites one that is there.
template <auto function> void writing(App& app, const ColonLine& line) { function(app, line.argument, line.insisting); }
template <auto function> void alone(App& app, const ColonLine&) { function(app); }
/// The argument is a mark's letter.
template <auto function> void with_letter(App& app, const ColonLine& line) {
    const std::string& text = line.argument;
    if (text.size() == 1 && text[0] >= 'a' && text[0] <= 'z') {
        function(app, text[0]);
    } else {
        app.tell("a mark is a letter from a to z, not '" + text + "'", true);
    }
}

using Tab = Completions;

// clang-format off
constexpr ColonCommand colon_commands[] = {
    {"step",    "N",               false, nullptr,       with_argument<go_to_step>,       "goes to a step"},
    {"eval",    "N",               false, nullptr,       with_argument<go_to_evaluation>, "goes to an evaluation: to the same place there; from within it to its beginning"},
    {"pass",    "PASS",            false, &Tab::pass,    with_argument<go_to_pass>,       "goes to the end of a pass: what it did is marked"},
    {"view",    "NAME",            false, &Tab::view,    with_argument<show_view_called>, "shows a view"},
    {"tensor",  "NAME",            false, &Tab::tensor,  with_argument<go_to_tensor>,     "selects a tensor"},
    {"explain", "NAME",            true,  &Tab::tensor,  with_argument<explain_tensor>,   "shows the story of a tensor, or of the selected one"},
    {"search",  "QUERY",           false, &Tab::query,   with_argument<search_for>,       "goes to the next line that matches"},
    {"filter",  "QUERY",           true,  &Tab::query,   with_argument<set_filter>,       "shows only lines that match; without one, all"},
    {"break",   "QUERY",           true,  &Tab::query,   with_argument<add_breakpoint>,   "sets a breakpoint; without one, lists them"},
    {"unbreak", "N",               true,  nullptr,       with_argument<take_breakpoint_away>, "takes a breakpoint away by its number; without one, all"},
    {"sort",    "COLUMN",          true,  &Tab::column,  with_argument<sort_by_title>,    "orders the list; without one, as it comes"},
    {"what-if", "SETTINGS",        true,  &Tab::what_if, with_argument<start_what_if>,    "plans again with other settings"},
    {"diff",    "OTHER.trace",     false, &Tab::file,    with_argument<start_diff>,       "compares with another trace, side by side"},
    {"mark",    "LETTER",          false, nullptr,       with_letter<set_mark>,           "marks this place"},
    {"jump",    "LETTER",          false, nullptr,       with_letter<go_to_mark>,         "goes to a mark"},
    {"marks",   "",                true,  nullptr,       alone<show_marks>,               "shows the marks, to choose one"},
    {"write",   "FILE",            false, &Tab::file,    writing<write_text>,             "writes the list and the details as text"},
    {"save",    "FILE.trace",      false, &Tab::file,    writing<save_trace>,             "keeps what runs as a trace, as far as it is recorded"},
    {"dot",     "[VIEW] FILE.svg", false, &Tab::picture, writing<draw_picture>,           "draws a picture of this step (.dot .svg .png .pdf)"},
    {"output",  "",                true,  nullptr,       alone<show_output>,              "shows what the running program writes"},
    {"messages", "",               true,  nullptr,       alone<show_messages>,            "shows what the status line said, whole"},
    {"set",     "NAME VALUE",      true,  &Tab::setting, with_argument<change_setting>,   "changes a setting; without one, shows them"},
    {"help",    "TOPIC",           true,  &Tab::topic,   with_argument<show_help>,        "shows a topic of the manual; without one, which there are"},
};
// clang-format on

/// Of which the whole name is typed or, where no command begins so, the beginning.
Action action_called(const std::string& name, const ColonCommand* command) {
    if (command) { // an action's whole name goes before the beginning of a command's
        return name == command->name ? Action::none : action_named(name);
    }
    if (const Action action = action_named(name); action != Action::none) {
        return action;
    }
    const auto all = default_bindings();
    const auto begun =
        std::find_if(all.begin(), all.end(), [&](const Binding& b) { return std::string_view(b.name).starts_with(name); });
    return begun == all.end() ? Action::none : begun->action;
}

} // namespace

std::span<const ColonCommand> commands() noexcept { return colon_commands; }

const ColonCommand* command_named(std::string_view word) noexcept {
    const auto whole =
        std::find_if(std::begin(colon_commands), std::end(colon_commands), [&](const ColonCommand& c) { return word == c.name; });
    if (whole != std::end(colon_commands)) {
        return whole;
    }
    const auto begun = std::find_if(std::begin(colon_commands), std::end(colon_commands), [&](const ColonCommand& c) {
        return !word.empty() && std::string_view(c.name).starts_with(word);
    });
    return begun == std::end(colon_commands) ? nullptr : begun;
}

ColonLine split_command(std::string_view text) {
    const size_t begin = std::min(text.find_first_not_of(' '), text.size());
    const size_t end = std::min(text.find(' ', begin), text.size());
    ColonLine line{std::string(text.substr(begin, end - begin)),
                   std::string(text.substr(std::min(text.find_first_not_of(' ', end), text.size())))};
    while (line.argument.ends_with(' ')) {
        line.argument.pop_back();
    }
    if (line.name.size() > 1 && line.name.ends_with('!')) {
        line.name.pop_back();
        line.insisting = true;
    }
    return line;
}

void ask_command(App& app) {
    app.ask({":", Typed::command, "", [&app](const std::string& text) { run_command(app, text); },
             [&app](std::string_view before) { return app.completions().command(before); }});
}

void run_command(App& app, const std::string& text) {
    const ColonLine line = split_command(text);
    if (line.name.empty()) {
        return;
    }
    if (const auto step = parse_number(line.name)) {
        app.jump([&] { return app.session.go(*step); });
        return;
    }
    const ColonCommand* const command = command_named(line.name);
    if (const Action action = action_called(line.name, command); action != Action::none) {
        perform(app, action);
    } else if (!command) {
        app.tell("no command '" + line.name + "': Tab shows which there are", true);
    } else if (!command->optional && line.argument.empty()) {
        app.tell(std::string(command->name) + " needs " + command->takes + ": " + command->help, true);
    } else {
        command->run(app, line);
    }
}

} // namespace schedscope::tui
